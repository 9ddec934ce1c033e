kubectl delete resourceflavor fake-gpu
kubectl apply -f tenant.yaml
