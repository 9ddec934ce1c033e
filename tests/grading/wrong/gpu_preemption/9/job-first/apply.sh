kubectl apply -f banned.yaml > refused.txt 2>&1
kubectl apply -f orphan.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s job/orphan-01
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
