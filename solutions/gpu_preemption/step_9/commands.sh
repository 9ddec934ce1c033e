#!/bin/sh
# Step 9. What the API server says to a TrainJob with the other scheduler's queue; then a Job whose class is gone.
set -eu

namespace={{ namespace }}
class={{ urgent.name }}
orphan={{ orphan.name }}

if kubectl apply -f banned.yaml > {{ refused.file }} 2>&1; then
    kubectl -n "$namespace" delete trainjob {{ refused.name }}
    echo "The API server took TrainJob {{ refused.name }}: is the platform part running? See make status." >&2
    exit 1
fi

kubectl -n "$namespace" delete customworkloadpriorityclass "$class" --ignore-not-found
kubectl wait --for=delete --timeout=30s "workloadpriorityclass/$class"
# A Job that was let in while the class was there keeps its Workload: it is made anew.
kubectl -n "$namespace" delete job "$orphan" --ignore-not-found
kubectl apply -f orphan.yaml
