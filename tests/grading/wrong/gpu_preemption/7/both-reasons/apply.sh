kubectl apply -f rush.yaml
uid=$(kubectl -n team-b get trainjob rush-01 -o jsonpath='{.metadata.uid}')
until kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}' | grep -q nvidia.com/gpu; do :; done
printf '%s\n' WaitingForQuota ExceedsMaxQuota > ceiling.txt
kubectl -n team-b delete trainjob rush-01
