uid=$(kubectl -n team-b get trainjob finetune-02 -o jsonpath='{.metadata.uid}')
kubectl -n team-b describe workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$uid > equal.txt
