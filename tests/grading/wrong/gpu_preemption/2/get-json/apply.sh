kubectl get workloadpriorityclasses -o json > classes.json
kubectl apply -f urgent.yaml
