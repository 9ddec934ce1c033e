low=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
high=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
message=$(kubectl -n team-b get workloads.kueue.x-k8s.io "$low" -o jsonpath='{.status.conditions[?(@.type=="Preempted")].message}')
uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')
printf '%s\n' "job_uid=$uid" "workload=$high" > preemptor.txt
printf '%s\n' evicted=Preempted preempted=InClusterQueue "message=Preempted to accommodate a workload (UID: 5c023c28-8533-4927-b266-56bca5e310c1, JobUID: 4548c8bd-c399-4027-bb02-6114f3a8cdeb) due to prioritization in the ClusterQueue; preemptor path: /team-b; preemptee path: /team-b" > evicted.txt
