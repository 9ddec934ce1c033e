kubectl apply -f banned.yaml > refused.txt 2>&1
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
kubectl apply -f orphan.yaml
kubectl -n team-b patch localqueue training --type=merge -p '{"spec":{"stopPolicy":"Hold"}}'
