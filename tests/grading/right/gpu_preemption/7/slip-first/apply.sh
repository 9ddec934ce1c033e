sed 's/numNodes: 5/numNodes: 4/' rush.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/rush-01
kubectl -n team-b delete trainjob rush-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
kubectl apply -f rush.yaml
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
until kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}' | grep -q nvidia.com/gpu; do :; done
