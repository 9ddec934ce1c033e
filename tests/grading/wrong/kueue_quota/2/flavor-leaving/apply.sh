kubectl apply -f cq.yaml
kubectl delete resourceflavor fake-gpu --wait=false
