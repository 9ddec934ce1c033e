uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')
kubectl -n team-b describe workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid > evicted.txt
