kubectl apply -f batch.yaml
