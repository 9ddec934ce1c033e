kubectl patch clusterqueue team-b --type=merge -p '{"spec":{"stopPolicy":"Hold"}}'
kubectl apply -f low.yaml
