kubectl apply -f serve.yaml
until kubectl -n team-b get workloads.kueue.x-k8s.io -o jsonpath='{.items[?(@.metadata.ownerReferences[0].kind=="Pod")].status.conditions[?(@.type=="QuotaReserved")].status}' | grep -q False; do :; done
pod=$(kubectl -n team-b get pods -l app=serve -o name | head -n 1)
echo "gate=$(kubectl -n team-b get $pod -o jsonpath='{.spec.schedulingGates[*].name}')" > gated.txt
echo pods=2 >> gated.txt
kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl -n team-b wait --for=condition=Available --timeout=30s deployment/serve
