kubectl -n team-a delete job train-3 train-1
kubectl wait --for=jsonpath='{.status.admittedWorkloads}'=1 clusterqueue/team-a --timeout=30s
kubectl apply -f job-3.yaml
