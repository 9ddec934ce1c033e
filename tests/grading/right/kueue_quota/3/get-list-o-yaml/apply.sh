kubectl apply -f lq.yaml
kubectl -n team-a wait --for=condition=Active localqueue/lq --timeout=30s
kubectl -n team-a get localqueue -o yaml > out && mv out lq.yaml
