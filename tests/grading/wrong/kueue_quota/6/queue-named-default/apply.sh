sed 's/name: lq/name: default/' lq.yaml | kubectl apply -f -
kubectl -n team-a wait --for=condition=Active localqueue/default --timeout=30s
kubectl apply -f sneaky.yaml
