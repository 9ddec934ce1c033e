uid=$(kubectl -n team-b get trainjob finetune-02 -o jsonpath='{.metadata.uid}')
kubectl -n team-b get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}' > equal.txt
