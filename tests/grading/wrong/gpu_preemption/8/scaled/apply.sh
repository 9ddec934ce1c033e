kubectl apply -f serve.yaml
until kubectl -n team-b get workloads.kueue.x-k8s.io -o jsonpath='{.items[?(@.metadata.ownerReferences[0].kind=="Pod")].status.conditions[?(@.type=="QuotaReserved")].status}' | grep -q False; do :; done
{ printf 'gate='; kubectl -n team-b get pods -l app=serve -o jsonpath='{.items[0].spec.schedulingGates[0].name}'; printf '\npods=%s\n' "$(kubectl -n team-b get pods -l app=serve -o name | wc -l)"; } > gated.txt
kubectl -n team-b scale deployment serve --replicas=1
