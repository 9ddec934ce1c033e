#!/bin/sh
# Step 8. The pods of {{ service.name }} are seen at their gate while {{ high_job.name }} holds all GPUs; then it is deleted.
set -eu

namespace={{ namespace }}
high={{ high_job.name }}
rival={{ rival_job.name }}
service={{ service.name }}
gated="kubectl -n $namespace get pods -l app=$service -o"

# Status of the condition QuotaReserved on the Workload that Kueue made for the TrainJob $1.
quota_reserved() {
    uid=$(kubectl -n "$namespace" get trainjob "$1" --ignore-not-found -o jsonpath='{.metadata.uid}')
    [ -n "$uid" ] || return 0
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io -l "{{ job_uid_label }}=$uid" \
        -o jsonpath='{.items[*].status.conditions[?(@.type=="QuotaReserved")].status}'
}

# What the Workloads of the pods say about their quota, if they say it yet.
reasons() {
    kubectl -n "$namespace" get workloads.kueue.x-k8s.io \
        -o jsonpath='{range .items[?(@.metadata.ownerReferences[0].kind=="Pod")]}{.metadata.ownerReferences[0].name} {.status.conditions[?(@.type=="QuotaReserved")].status}{"\n"}{end}' |
        grep "^$service-.* False" || true
}

if [ "$(quota_reserved "$high")" != True ]; then
    if [ "$(kubectl -n "$namespace" get deployment "$service" --ignore-not-found -o jsonpath='{.status.readyReplicas}')" = {{ service.replicas }} ] && [ -s {{ service.file }} ]; then
        exit 0
    fi
    echo "TrainJob $high does not hold the GPUs: solve steps 5 and 6 first." >&2
    exit 1
fi
kubectl -n "$namespace" delete deployment "$service" --ignore-not-found --cascade=foreground
kubectl apply -f {{ service.manifest }}
tries=0
until [ "$($gated name | wc -l)" -eq {{ service.replicas }} ] && [ -n "$(reasons)" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ]; then
        echo "The pods of Deployment $service do not wait for quota. The Workloads of namespace $namespace:" >&2
        kubectl -n "$namespace" get workloads.kueue.x-k8s.io >&2
        exit 1
    fi
    sleep 0.5
done
cat > {{ service.file }} <<END
{{ service.gate_key }}=$($gated jsonpath='{.items[0].spec.schedulingGates[0].name}')
{{ service.pods_key }}=$($gated name | wc -l)
END

kubectl -n "$namespace" delete trainjob "$high"
kubectl -n "$namespace" wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s "trainjob/$rival"
kubectl -n "$namespace" wait --for=condition=Available --timeout=60s "deployment/$service"
