#!/bin/sh
# Step 7. {{ big_job.name }} asks more than the quota: its reason is written down, then it is deleted again.
set -eu

namespace={{ namespace }}
big={{ big_job.name }}

# One field of the condition QuotaReserved on the Workload that Kueue made for the TrainJob $1.
quota_reserved() {
    uid=$(kubectl -n "$namespace" get trainjob "$1" --ignore-not-found -o jsonpath='{.metadata.uid}')
    [ -n "$uid" ] || return 0
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$uid" \
        -o jsonpath="{.items[*].status.conditions[?(@.type==\"QuotaReserved\")].$2}"
}

kubectl -n "$namespace" delete trainjob "$big" --ignore-not-found
kubectl apply -f rush.yaml
tries=0
until [ "$(quota_reserved "$big" status)" = False ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ]; then
        echo "No Workload says why TrainJob $big waits. The Workloads of namespace $namespace:" >&2
        kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
        exit 1
    fi
    sleep 0.5
done
echo "$(quota_reserved "$big" reason): $(quota_reserved "$big" message)" > {{ big_job.file }}
kubectl -n "$namespace" delete trainjob "$big"
