kubectl -n team-a delete job train-1
kubectl -n team-a wait --for=delete workloads.kueue.x-k8s.io --all --timeout=30s
kubectl delete clusterqueue team-a
kubectl apply -f job-2.yaml -f job-3.yaml
