#!/bin/sh
# Step 1. The ClusterQueue of a LocalQueue cannot change: one that leads elsewhere is replaced. Kueue takes
# the order of a ClusterQueue's line when that is made: one made with another mode is replaced, too.
set -eu

namespace={{ namespace }}
queue={{ tenant.cluster_queue }}
local={{ tenant.local_queue }}

mode=$(kubectl get clusterqueue "$queue" --ignore-not-found -o jsonpath='.{.spec.admissionScope.admissionMode}')
if [ -n "$mode" ] && [ "$mode" != .{{ tenant.mode }} ]; then
    kubectl delete --timeout=60s clusterqueue "$queue"
fi
leads=$(kubectl -n "$namespace" get localqueue "$local" --ignore-not-found -o jsonpath='{.spec.clusterQueue}')
if [ -n "$leads" ] && [ "$leads" != "$queue" ]; then
    kubectl -n "$namespace" delete localqueue "$local"
fi
kubectl apply -f {{ tenant.file }}
kubectl wait --for=condition=Active --timeout=30s "clusterqueue/$queue"
kubectl -n "$namespace" wait --for=condition=Active --timeout=30s "localqueue/$local"
