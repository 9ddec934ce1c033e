kubectl apply -f banned.yaml > refused.txt 2>&1
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
