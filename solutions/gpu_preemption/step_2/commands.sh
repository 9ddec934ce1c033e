#!/bin/sh
# Step 2. The values are read from the cluster; the class of one's own takes its place between them.
# A Job of step 9 that waits for this very class would enter with it: it is taken out.
set -eu

namespace={{ namespace }}
name={{ urgent.name }}

value() {
    kubectl get workloadpriorityclass "$1" -o jsonpath='{.value}'
}

{
    printf '{'
    comma=
    for class in {% for class in classes["values"] %}{{ class }} {% endfor %}; do
        printf '%s"%s": %s' "$comma" "$class" "$(value "$class")"
        comma=', '
    done
    printf '}\n'
} > {{ classes.file }}

kubectl -n "$namespace" delete --ignore-not-found job {{ orphan.name }}
kubectl apply -f {{ urgent.file }}
kubectl -n "$namespace" wait --for=condition=Ready --timeout=30s "customworkloadpriorityclass/$name"
