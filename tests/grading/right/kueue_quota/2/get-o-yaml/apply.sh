kubectl apply -f cq.yaml
kubectl wait --for=condition=Active clusterqueue/team-a --timeout=30s
kubectl get clusterqueue team-a -o yaml > new.yaml && mv new.yaml cq.yaml
