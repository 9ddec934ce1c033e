kubectl -n team-a label job train-3 kueue.x-k8s.io/queue-name-
kubectl -n team-a patch job train-3 --type=merge -p '{"spec":{"suspend":false}}'
kubectl -n team-a delete job train-1
