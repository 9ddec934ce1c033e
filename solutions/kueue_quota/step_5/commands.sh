#!/bin/sh
# Step 5. {{ second_job.name }} is let in before {{ waiting_job.name }} is sent, so that it is {{ waiting_job.name }} that waits.
set -eu

namespace={{ namespace }}
second={{ second_job.name }}
waiting={{ waiting_job.name }}

# What the Job $1 is doing: its spec.suspend, then the conditions that are true.
state() {
    kubectl -n "$namespace" get job "$1" --ignore-not-found \
        -o jsonpath='{.spec.suspend} {.status.conditions[?(@.status=="True")].type}'
}

# A Job template cannot change: whether the server would take this file over what is there.
is_accepted() {
    kubectl apply --dry-run=server -f "$1" >/dev/null 2>&1
}

# Kueue lets a Job in by clearing spec.suspend; its pod runs a moment later.
wait_running() {
    kubectl -n "$namespace" wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s "job/$1" &&
        kubectl -n "$namespace" wait --for=jsonpath='{.status.ready}'=1 --timeout=60s "job/$1" && return
    echo "Job $1 does not run. Delete the Jobs that are not part of the lab. The Workloads now:" >&2
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
    exit 1
}

# One field of the condition QuotaReserved on the Workload that Kueue made for the Job $1.
quota_reserved() {
    uid=$(kubectl -n "$namespace" get job "$1" -o jsonpath='{.metadata.uid}')
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "kueue.x-k8s.io/job-uid=$uid" \
        -o jsonpath="{.items[*].status.conditions[?(@.type==\"QuotaReserved\")].$2}"
}

if [ "$(state {{ first_job.name }})" != "false " ]; then
    echo "Job {{ first_job.name }} is not admitted: solve step 4 first." >&2
    exit 1
fi
if [ "$(state "$second")" != "false " ] || ! is_accepted job-2.yaml; then
    kubectl -n "$namespace" delete job "$waiting" "$second" --ignore-not-found
fi
kubectl apply -f job-2.yaml
wait_running "$second"

if [ "$(state "$waiting")" != "true Suspended" ] || ! is_accepted job-3.yaml; then
    kubectl -n "$namespace" delete job "$waiting" --ignore-not-found
fi
kubectl apply -f job-3.yaml
tries=0
until [ "$(quota_reserved "$waiting" status)" = False ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ]; then
        echo "No Workload says why Job $waiting waits. The Workloads of namespace $namespace:" >&2
        kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
        exit 1
    fi
    sleep 0.5
done
echo "$(quota_reserved "$waiting" reason): $(quota_reserved "$waiting" message)" > {{ waiting_job.file }}
