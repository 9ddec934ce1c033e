#!/bin/sh
# Step 8. Only {{ first_job.name }} is touched; Kueue lets {{ waiting_job.name }} in by itself.
set -eu

namespace={{ namespace }}
waiting={{ waiting_job.name }}

# Kueue lets a Job in by clearing spec.suspend; its pod runs a moment later.
wait_running() {
    kubectl -n "$namespace" wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s "job/$1" &&
        kubectl -n "$namespace" wait --for=jsonpath='{.status.ready}'=1 --timeout=60s "job/$1" && return
    echo "Job $1 does not run. Delete the Jobs that are not part of the lab. The Workloads now:" >&2
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
    exit 1
}

if ! kubectl -n "$namespace" get job "$waiting" >/dev/null; then
    echo "Nobody waits in line: solve step 5 first." >&2
    exit 1
fi
kubectl -n "$namespace" delete job {{ first_job.name }} --ignore-not-found
wait_running "$waiting"
