#!/bin/sh
# Step 1. An object that is already there is replaced, not merged: what only the live one has must go, too.
set -eu

if kubectl get resourceflavors.kueue.x-k8s.io {{ flavor.name }} >/dev/null 2>&1; then
    kubectl replace --save-config -f {{ flavor.file }}
else
    kubectl apply -f {{ flavor.file }}
fi
