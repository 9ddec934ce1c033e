kubectl -n team-a patch localqueue lq --type=merge -p '{"spec":{"stopPolicy":"Hold"}}'
kubectl -n team-a delete job train-1
