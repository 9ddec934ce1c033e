#!/bin/sh
# Step 6. {{ rival_job.name }} is sent while {{ high_job.name }} holds all GPUs; what Kueue says about it is written down.
set -eu

namespace={{ namespace }}
high={{ high_job.name }}
rival={{ rival_job.name }}

# One field of the condition QuotaReserved on the Workload that Kueue made for the TrainJob $1.
quota_reserved() {
    uid=$(kubectl -n "$namespace" get trainjob "$1" --ignore-not-found -o jsonpath='{.metadata.uid}')
    [ -n "$uid" ] || return 0
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$uid" \
        -o jsonpath="{.items[*].status.conditions[?(@.type==\"QuotaReserved\")].$2}"
}

# A TrainJob cannot change much: whether the server would take this file over what is there.
is_accepted() {
    kubectl apply --dry-run=server -f "$1" >/dev/null 2>&1
}

if [ "$(quota_reserved "$high" status)" != True ]; then
    echo "TrainJob $high does not hold the GPUs: solve step 5 first." >&2
    exit 1
fi
if [ "$(quota_reserved "$rival" status)" != False ] || ! is_accepted rival.yaml; then
    kubectl -n "$namespace" delete trainjob "$rival" --ignore-not-found
fi
kubectl apply -f rival.yaml
tries=0
until [ "$(quota_reserved "$rival" status)" = False ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ]; then
        echo "No Workload says why TrainJob $rival waits. The Workloads of namespace $namespace:" >&2
        kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
        exit 1
    fi
    sleep 0.5
done
echo "$(quota_reserved "$rival" reason): $(quota_reserved "$rival" message)" > {{ rival_job.file }}
