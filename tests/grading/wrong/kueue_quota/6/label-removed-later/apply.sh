kubectl apply -f sneaky.yaml
timeout 30 sh -c 'until kubectl -n team-a get workloads.kueue.x-k8s.io -o name | grep -q /job-sneaky-; do :; done'
kubectl -n team-a label job sneaky kueue.x-k8s.io/queue-name-
kubectl -n team-a patch job sneaky --type=merge -p '{"spec":{"suspend":false}}'
