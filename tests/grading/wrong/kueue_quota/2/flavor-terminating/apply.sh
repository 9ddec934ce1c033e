kubectl apply -f cq.yaml
kubectl wait --for=condition=Active clusterqueue/team-a --timeout=30s
kubectl delete resourceflavor fake-gpu --wait=false
