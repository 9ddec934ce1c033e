kubectl apply -f rush.yaml
