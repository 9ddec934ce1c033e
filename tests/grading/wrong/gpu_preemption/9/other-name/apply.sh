sed 's/banned-01/banned-02/' banned.yaml | kubectl apply -f - 2> refused.txt
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
kubectl apply -f orphan.yaml
