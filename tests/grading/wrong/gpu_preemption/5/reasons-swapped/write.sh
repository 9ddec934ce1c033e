low=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
high=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
message=$(kubectl -n team-b get workloads.kueue.x-k8s.io "$low" -o jsonpath='{.status.conditions[?(@.type=="Preempted")].message}')
uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')
printf '%s\n' "job_uid=$uid" "workload=$high" > preemptor.txt
printf '%s\n' evicted=InClusterQueue preempted=Preempted "message=$message" > evicted.txt
