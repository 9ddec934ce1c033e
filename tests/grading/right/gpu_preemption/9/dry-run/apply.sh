{ echo '$ kubectl apply --dry-run=server -f banned.yaml'; kubectl apply --dry-run=server -f banned.yaml 2>&1; } | fold -s -w 70 > refused.txt
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
kubectl apply -f orphan.yaml
