kubectl -n team-a delete job train-1
kubectl -n team-a wait --for=jsonpath='{.spec.suspend}'=false job/train-3 --timeout=30s
kubectl apply -f job-1.yaml
