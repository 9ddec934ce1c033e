kubectl apply -f job-1.yaml
kubectl -n team-a wait --for=jsonpath={.status.ready}=1 job/train-1 --timeout=30s
kubectl -n team-a delete job train-1 --cascade=orphan
kubectl apply -f job-1.yaml
