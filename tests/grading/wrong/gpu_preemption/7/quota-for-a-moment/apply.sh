kubectl apply -f rush.yaml
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
until kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}' | grep -q nvidia.com/gpu; do :; done
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
{ kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].reason}'; printf ': '; kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}'; } > ceiling.txt
kubectl patch clusterqueue team-b --type=json -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":5}]'
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/rush-01
kubectl patch clusterqueue team-b --type=json -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":4}]'
kubectl -n team-b delete trainjob rush-01
