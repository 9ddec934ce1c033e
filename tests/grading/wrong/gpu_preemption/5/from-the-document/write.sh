low=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob pretrain-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
high=$(kubectl -n team-b get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')" -o jsonpath='{.items[0].metadata.name}')
message=$(kubectl -n team-b get workloads.kueue.x-k8s.io "$low" -o jsonpath='{.status.conditions[?(@.type=="Preempted")].message}')
uid=$(kubectl -n team-b get trainjob finetune-01 -o jsonpath='{.metadata.uid}')
printf '%s\n' "job_uid=$uid" "workload=$high" > preemptor.txt
cat > evicted.txt <<'EOF'
Evicted가 True, reason이 Preempted
Preempted 조건의 reason이 InClusterQueue
message에 선점한 워크로드의 UID와 JobUID 표시
EOF
