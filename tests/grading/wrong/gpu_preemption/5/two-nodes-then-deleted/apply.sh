sed 's/numNodes: 4/numNodes: 2/' high.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=true --timeout=30s trainjob/pretrain-01
low=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')
high=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$uid" -o jsonpath='{.items[0].metadata.name}')
message=$(kubectl -n team-b get workloads.kueue.x-k8s.io "$low" -o jsonpath='{.status.conditions[?(@.type=="Preempted")].message}')
printf '%s\n' evicted=Preempted preempted=InClusterQueue "message=$message" > evicted.txt
printf '%s\n' "job_uid=$uid" "workload=$high" > preemptor.txt
kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
