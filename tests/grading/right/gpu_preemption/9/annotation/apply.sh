sed '/kai.scheduler/d; s/^  labels:/  annotations: {scheduling.volcano.sh\/queue-name: default}\n  labels:/' banned.yaml > mine.yaml
kubectl apply -f mine.yaml 2> refused.txt
kubectl -n team-b delete cwpc team-b-urgent
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-urgent
kubectl apply -f orphan.yaml
