sed 's/1200/1250/' urgent.yaml | kubectl apply -f -
kubectl -n team-b wait --for=condition=Ready --timeout=30s customworkloadpriorityclass/team-b-urgent
kubectl apply -f urgent.yaml
