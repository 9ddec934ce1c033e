kubectl apply -f job-3.yaml
kubectl -n team-a wait --for=jsonpath='{.spec.suspend}'=false job/train-3 --timeout=30s
kubectl apply -f job-2.yaml
