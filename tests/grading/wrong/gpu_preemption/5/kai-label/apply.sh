kubectl apply -f high.yaml
