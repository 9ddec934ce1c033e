kubectl apply -f serve.yaml
