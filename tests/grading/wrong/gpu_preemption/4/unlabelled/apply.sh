kubectl apply -f low.yaml
