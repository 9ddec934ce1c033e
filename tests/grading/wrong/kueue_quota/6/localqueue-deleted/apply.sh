kubectl -n team-a delete localqueue lq
kubectl apply -f sneaky.yaml
