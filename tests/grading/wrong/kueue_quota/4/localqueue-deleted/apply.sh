kubectl -n team-a delete localqueue lq
kubectl apply -f job-1.yaml
