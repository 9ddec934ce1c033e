#!/bin/sh
# Step 10. The LocalQueue {{ research.name }} is made anew, so that it has used nothing; both Jobs wait while
# {{ rival_job.name }} and {{ service.name }} hold all GPUs; then {{ service.name }} is deleted, and one of them gets in.
set -eu

namespace={{ namespace }}
rival={{ rival_job.name }}
service={{ service.name }}
queue=localqueues.kueue.x-k8s.io

# Status of the condition QuotaReserved on the Workload of the object $2 of the kind $1; empty without
# one: a Workload that equals one already waiting gets no such condition.
quota_reserved() {
    uid=$(kubectl -n "$namespace" get "$1" "$2" --ignore-not-found -o jsonpath='{.metadata.uid}')
    [ -n "$uid" ] || return 0
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$uid" \
        -o jsonpath='{.items[*].status.conditions[?(@.type=="QuotaReserved")].status}'
}

# A number of the LocalQueue $1: of {{ gpu }} consumed, or its weight.
consumed() {
    kubectl -n "$namespace" get "$queue" "$1" \
        -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources.{{ gpu | replace(".", "\\.") }}}'
}

weight() {
    kubectl -n "$namespace" get "$queue" "$1" -o jsonpath='{.spec.fairSharing.weight}'
}

# Calls the rest of its arguments until they succeed; $1 is what to say when they do not.
until_so() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 60 ]; then
            echo "$what The Workloads of namespace $namespace:" >&2
            kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
            exit 1
        fi
        sleep 0.5
    done
}

has_workload() {
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -o name | grep -q "/job-$1-"
}

# The LocalQueue $1 counts a Workload that waits.
has_one_waiting() {
    [ "$(kubectl -n "$namespace" get "$queue" "$1" -o jsonpath='{.status.pendingWorkloads}')" = 1 ]
}

has_no_exam() {
    ! has_workload {{ order.training_job }} && ! has_workload {{ order.research_job }}
}

one_is_in() {
    case "$(quota_reserved job {{ order.training_job }})$(quota_reserved job {{ order.research_job }})" in
        *True*) return 0 ;;
    esac
    return 1
}

has_numbers() {
    [ -n "$(consumed {{ tenant.local_queue }})" ] && [ -n "$(consumed {{ research.name }})" ]
}

if [ "$(quota_reserved trainjob "$rival")" != True ]; then
    echo "TrainJob $rival does not run: solve steps 5, 6 and 8 first." >&2
    exit 1
fi
kubectl -n "$namespace" delete job {{ order.training_job }} {{ order.research_job }} --ignore-not-found
until_so "Their Workloads do not go." has_no_exam
kubectl -n "$namespace" delete "$queue" {{ research.name }} --ignore-not-found
kubectl apply -f {{ research.manifest }} -f {{ service.manifest }}
kubectl -n "$namespace" wait --for=condition=Active --timeout=30s "$queue/{{ research.name }}"
kubectl -n "$namespace" wait --for=condition=Available --timeout=60s "deployment/$service"

kubectl apply -f exam-training.yaml
until_so "Job {{ order.training_job }} does not wait." has_workload {{ order.training_job }}
kubectl apply -f exam-research.yaml
until_so "Job {{ order.research_job }} does not wait." has_one_waiting {{ research.name }}
until_so "A LocalQueue does not say what it has used." has_numbers
training_used=$(consumed {{ tenant.local_queue }})
research_used=$(consumed {{ research.name }})

kubectl -n "$namespace" delete deployment "$service"
until_so "None of the two Jobs gets in." one_is_in
first={{ order.training_job }}
if [ "$(quota_reserved job {{ order.research_job }})" = True ]; then
    first={{ order.research_job }}
fi
cat > {{ order.file }} <<END
{
  "{{ order.first_key }}": "$first",
  "{{ order.consumed_key }}": {"{{ tenant.local_queue }}": "$training_used", "{{ research.name }}": "$research_used"},
  "{{ order.weight_key }}": {"{{ tenant.local_queue }}": "$(weight {{ tenant.local_queue }})", "{{ research.name }}": "$(weight {{ research.name }})"}
}
END
