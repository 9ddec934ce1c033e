#!/bin/sh
# Step 2. An object that is already there is replaced, not merged: what only the live one has must go, too.
set -eu

if kubectl get clusterqueues.kueue.x-k8s.io {{ cluster_queue.name }} >/dev/null 2>&1; then
    kubectl replace --save-config -f {{ cluster_queue.file }}
else
    kubectl apply -f {{ cluster_queue.file }}
fi
kubectl wait --for=condition=Active --timeout=30s clusterqueues.kueue.x-k8s.io/{{ cluster_queue.name }}
