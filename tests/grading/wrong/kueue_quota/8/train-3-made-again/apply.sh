kubectl -n team-a delete job train-3
kubectl wait --for=jsonpath='{.status.pendingWorkloads}'=0 clusterqueue/team-a --timeout=30s
kubectl apply -f job-3.yaml
kubectl wait --for=jsonpath='{.status.pendingWorkloads}'=1 clusterqueue/team-a --timeout=30s
kubectl -n team-a delete job train-1
