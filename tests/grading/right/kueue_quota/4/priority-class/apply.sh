kubectl apply -f wpc.yaml
kubectl apply -f job-1.yaml
