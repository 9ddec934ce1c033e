kubectl apply -f serve.yaml
kubectl -n team-b patch localqueue training --type=merge -p '{"spec":{"stopPolicy":"Hold"}}'
