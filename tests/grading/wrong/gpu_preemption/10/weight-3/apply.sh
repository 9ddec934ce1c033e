kubectl apply -f research.yaml
