#!/bin/sh
# Step 7. Kueue writes the status a moment after things change: two equal readings, a second apart, count.
set -eu

# admitted, pending and reserved GPUs of the ClusterQueue, separated by blanks.
ledger() {
    kubectl get clusterqueues.kueue.x-k8s.io {{ cluster_queue.name }} -o jsonpath='{.status.admittedWorkloads} {.status.pendingWorkloads} {.status.flavorsReservation[?(@.name=="{{ flavor.name }}")].resources[?(@.name=="{{ gpu }}")].total}'
}

now=$(ledger)
tries=0
before=
until [ "$now" = "$before" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 30 ]; then
        echo "The status of ClusterQueue {{ cluster_queue.name }} keeps changing: $now" >&2
        exit 1
    fi
    sleep 1
    before=$now
    now=$(ledger)
done

# Without quotes: the three numbers become $1, $2 and $3.
set -- $now
if [ "$#" -ne 3 ]; then
    echo "ClusterQueue {{ cluster_queue.name }} has no complete status yet: $now" >&2
    exit 1
fi
cat > {{ usage.file }} <<END
{
  "{{ usage.admitted_key }}": $1,
  "{{ usage.pending_key }}": $2,
  "{{ usage.gpu_key }}": $3
}
END
