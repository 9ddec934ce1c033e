#!/bin/sh
# Step 1. The ClusterQueue of a LocalQueue cannot change: one that leads elsewhere is replaced.
set -eu

namespace={{ namespace }}
local={{ tenant.local_queue }}

leads=$(kubectl -n "$namespace" get localqueue "$local" --ignore-not-found -o jsonpath='{.spec.clusterQueue}')
if [ -n "$leads" ] && [ "$leads" != "{{ tenant.cluster_queue }}" ]; then
    kubectl -n "$namespace" delete localqueue "$local"
fi
kubectl apply -f {{ tenant.file }}
kubectl wait --for=condition=Active --timeout=30s "clusterqueue/{{ tenant.cluster_queue }}"
kubectl -n "$namespace" wait --for=condition=Active --timeout=30s "localqueue/$local"
