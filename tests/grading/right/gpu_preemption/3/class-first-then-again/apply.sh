kubectl delete workloadpriorityclass team-b-batch
kubectl apply -f batch.yaml
kubectl -n team-b wait --for=condition=Ready --timeout=30s customworkloadpriorityclass/team-b-batch
kubectl -n team-b delete cwpc team-b-batch
kubectl wait --for=delete --timeout=30s workloadpriorityclass/team-b-batch
printf 'apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: team-b-batch}\nvalue: 400\n' | kubectl apply -f -
kubectl apply -f batch.yaml
kubectl -n team-b wait --for=condition=Ready=False --timeout=30s customworkloadpriorityclass/team-b-batch
