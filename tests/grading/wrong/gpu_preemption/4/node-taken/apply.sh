kubectl apply -f past.yaml
kubectl -n default wait --for=condition=Ready --timeout=30s pod/past-1 pod/past-2
kubectl apply -f low.yaml
