kubectl apply -f batch.yaml
kubectl -n team-b wait --for=condition=Ready=False --timeout=30s customworkloadpriorityclass/team-b-batch
printf 'apiVersion: kakaocloud.io/v1alpha1\nkind: CustomWorkloadPriorityClass\nmetadata: {name: team-b-urgent, namespace: team-b}\nspec: {value: 1200}\n' | kubectl apply -f -
kubectl -n team-b wait --for=condition=Ready --timeout=30s customworkloadpriorityclass/team-b-urgent
