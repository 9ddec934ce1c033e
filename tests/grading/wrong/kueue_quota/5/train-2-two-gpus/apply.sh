kubectl apply -f job-2.yaml
kubectl apply -f job-3.yaml
