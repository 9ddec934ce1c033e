#!/bin/sh
# Step 3. spec.clusterQueue cannot be changed: a LocalQueue that names another one is made anew.
set -eu

queue=localqueues.kueue.x-k8s.io/{{ local_queue.name }}
namespace={{ namespace }}

target=$(kubectl -n "$namespace" get "$queue" --ignore-not-found -o jsonpath='{.spec.clusterQueue}')
if [ "$target" = {{ cluster_queue.name }} ]; then
    kubectl replace --save-config -f {{ local_queue.file }}
else
    kubectl -n "$namespace" delete "$queue" --ignore-not-found
    kubectl apply -f {{ local_queue.file }}
fi
kubectl -n "$namespace" wait --for=condition=Active --timeout=30s "$queue"
