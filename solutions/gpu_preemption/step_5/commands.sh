#!/bin/sh
# Step 5. {{ low_job.name }} runs before {{ high_job.name }} is sent, so that it is the one that has to leave.
set -eu

namespace={{ namespace }}
low={{ low_job.name }}
high={{ high_job.name }}

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

uid() {
    kubectl -n "$namespace" get trainjob "$1" --ignore-not-found -o jsonpath='{.metadata.uid}'
}

# One field ($3) of a condition ($2) on the Workload that Kueue made for the TrainJob $1.
condition() {
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$(uid "$1")" \
        -o jsonpath="{.items[*].status.conditions[?(@.type==\"$2\")].$3}"
}

# Whether the low one has left for the high one that is there now.
has_left() {
    [ -n "$(uid "$high")" ] || return 1
    [ "$(condition "$low" Preempted status)" = True ] || return 1
    case "$(condition "$low" Preempted message)" in
        *"JobUID: $(uid "$high")"*) return 0 ;;
    esac
    return 1
}

if [ "$(state "$high")" != false ] || ! has_left || ! is_accepted {{ high_job.manifest }}; then
    if [ "$(state "$low")" != false ]; then
        echo "TrainJob $low does not run: solve step 4 first." >&2
        exit 1
    fi
    kubectl -n "$namespace" delete --ignore-not-found trainjob "$high" {{ rival_job.name }} {{ big_job.name }}
    kubectl -n "$namespace" delete --ignore-not-found deployment {{ service.name }}
    kubectl -n "$namespace" delete --ignore-not-found job {{ order.training_job }} {{ order.research_job }}
    wait_running "$low" {{ low_job.nodes }}
fi
kubectl apply -f {{ high_job.manifest }}
wait_running "$high" {{ high_job.nodes }}
kubectl -n "$namespace" wait --for=jsonpath='{.spec.suspend}'=true --timeout=30s "trainjob/$low"

{
    echo "{{ high_job.evicted_key }}=$(condition "$low" Evicted reason)"
    echo "{{ high_job.preempted_key }}=$(condition "$low" Preempted reason)"
    echo "{{ high_job.message_key }}=$(condition "$low" Preempted message)"
} > {{ high_job.evicted }}

job_uid=$(condition "$low" Preempted message | sed 's/.*JobUID: \([0-9a-f-]*\).*/\1/')
workload=$(kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$job_uid" \
    -o jsonpath='{.items[0].metadata.name}')
printf '%s=%s\n' {{ high_job.job_uid_key }} "$job_uid" {{ high_job.workload_key }} "$workload" > {{ high_job.preemptor }}
