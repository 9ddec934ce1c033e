kubectl -n team-b patch localqueue training --type=merge -p '{"spec":{"stopPolicy":"Hold"}}'
kubectl -n team-b wait --for=condition=Active=False --timeout=30s localqueue/training
kubectl apply -f rush.yaml
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
until kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o name | grep -q .; do :; done
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
{ kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].reason}'; printf ': '; kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}'; } > ceiling.txt
kubectl -n team-b delete trainjob rush-01
kubectl -n team-b patch localqueue training --type=merge -p '{"spec":{"stopPolicy":"None"}}'
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/training
