#!/bin/sh
# Step 4. Unless it runs as its file says, all that may hold quota in this lab is taken out, also what
# later steps put there: they make it anew.
set -eu

namespace={{ namespace }}
low={{ low_job.name }}

# Whether the TrainJob $1 is suspended: empty when it is not there.
state() {
    kubectl -n "$namespace" get trainjob "$1" --ignore-not-found -o jsonpath='{.spec.suspend}'
}

# Most of a TrainJob cannot change: whether the server would take this file over what is there.
is_accepted() {
    kubectl apply --dry-run=server -f "$1" >/dev/null 2>&1
}

# Kueue lets a TrainJob in by clearing spec.suspend; the Job of its nodes has their pods a moment later.
wait_running() {
    kubectl -n "$namespace" wait --for=jsonpath='{.spec.suspend}'=false --timeout=60s "trainjob/$1" &&
        kubectl -n "$namespace" wait --for=create --timeout=30s "job/$1-node-0" &&
        kubectl -n "$namespace" wait --for=jsonpath='{.status.ready}'="$2" --timeout=60s "job/$1-node-0" &&
        return
    echo "TrainJob $1 does not run. Delete what is not part of the lab. The Workloads now:" >&2
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
    exit 1
}

if [ "$(state "$low")" != false ] || ! is_accepted {{ low_job.manifest }}; then
    kubectl -n "$namespace" delete --ignore-not-found trainjob \
        "$low" {{ high_job.name }} {{ rival_job.name }} {{ big_job.name }}
    kubectl -n "$namespace" delete --ignore-not-found deployment {{ service.name }}
    kubectl -n "$namespace" delete --ignore-not-found job {{ order.training_job }} {{ order.research_job }}
fi
kubectl apply -f {{ low_job.manifest }}
wait_running "$low" {{ low_job.nodes }}
