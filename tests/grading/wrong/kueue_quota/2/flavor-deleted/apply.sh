kubectl delete resourceflavor fake-gpu
kubectl apply -f cq.yaml
