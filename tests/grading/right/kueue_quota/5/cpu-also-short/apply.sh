kubectl apply -f job-2.yaml
kubectl -n team-a wait --for=jsonpath='{.spec.suspend}'=false job/train-2 --timeout=30s
kubectl apply -f job-3.yaml
