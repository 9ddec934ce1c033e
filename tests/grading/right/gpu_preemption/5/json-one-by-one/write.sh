low=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')
high=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$uid" -o jsonpath='{.items[0].metadata.name}')
printf '%s\n' "job_uid=$uid" "workload=$high" > preemptor.txt
for kind in Evicted Preempted; do kubectl -n team-b get workloads.kueue.x-k8s.io "$low" -o jsonpath="{.status.conditions[?(@.type==\"$kind\")]}"; echo; done > evicted.txt
