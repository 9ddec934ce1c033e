#!/bin/sh
# Step 3. One that was made before the name was taken owns the class of that name: it is made anew.
set -eu

namespace={{ namespace }}
name={{ batch.name }}
kind=customworkloadpriorityclass

ready() {
    kubectl -n "$namespace" get "$kind" "$name" --ignore-not-found \
        -o jsonpath="{.status.conditions[?(@.type==\"Ready\")].$1}"
}

if ! kubectl get workloadpriorityclass "$name" >/dev/null 2>&1; then
    echo "There is no WorkloadPriorityClass $name: make start STEP={{ step }} lays it out." >&2
    exit 1
fi
if [ "$(ready status)" = True ]; then
    echo "{{ batch.name }} owns the class of its name. Delete it, then make start STEP={{ step }}." >&2
    exit 1
fi
kubectl apply -f {{ batch.manifest }}
kubectl -n "$namespace" wait --for=condition=Ready=False --timeout=30s "$kind/$name"
printf '%s=%s\n' {{ batch.ready_key }} "$(ready status)" {{ batch.reason_key }} "$(ready reason)" > {{ batch.file }}
