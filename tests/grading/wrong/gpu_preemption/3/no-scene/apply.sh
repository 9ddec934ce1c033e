kubectl delete workloadpriorityclass team-b-batch
kubectl apply -f batch.yaml
kubectl -n team-b wait --for=condition=Ready --timeout=30s customworkloadpriorityclass/team-b-batch
