#!/bin/sh
# Step 4. Unless the Job runs as its file says, the Jobs of this quota are taken out, also those of
# later steps, which make them anew.
set -eu

namespace={{ namespace }}
first={{ first_job.name }}

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

if [ "$(state "$first")" != "false " ] || ! is_accepted {{ first_job.file }}; then
    kubectl -n "$namespace" delete job "$first" {{ second_job.name }} {{ waiting_job.name }} --ignore-not-found
fi
kubectl apply -f {{ first_job.file }}
wait_running "$first"
