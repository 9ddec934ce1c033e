#!/bin/sh
# Step 6. The two values are read from the cluster, not written down from memory.
set -eu

namespace={{ namespace }}
job={{ bypass_job.name }}

# Names of the Workloads that this Job owns; none when Kueue does not look after it.
workloads() {
    uid=$(kubectl -n "$namespace" get job "$job" -o jsonpath='{.metadata.uid}')
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io \
        -o jsonpath="{.items[?(@.metadata.ownerReferences[0].uid==\"$uid\")].metadata.name}"
}

# A Job that Kueue has queued once keeps its Workload, with or without the label: it is made anew.
if kubectl -n "$namespace" get job "$job" >/dev/null 2>&1; then
    state=$(kubectl -n "$namespace" get job "$job" -o jsonpath='{.spec.suspend} {.status.ready}')
    if [ "$state" != "false 1" ] || [ -n "$(workloads)" ] ||
        ! kubectl apply --dry-run=server -f sneaky.yaml >/dev/null 2>&1; then
        kubectl -n "$namespace" delete job "$job"
    fi
fi
kubectl apply -f sneaky.yaml
kubectl -n "$namespace" wait --for=jsonpath='{.status.ready}'=1 --timeout=60s "job/$job"

suspended=$(kubectl -n "$namespace" get job "$job" -o jsonpath='{.spec.suspend}')
workload=$(workloads)
cat > {{ bypass_job.file }} <<END
{{ bypass_job.suspended_key }}=$suspended
{{ bypass_job.workload_key }}=${workload:-{{ bypass_job.none }}}
END
