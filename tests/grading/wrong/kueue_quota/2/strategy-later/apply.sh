kubectl apply -f base.yaml
