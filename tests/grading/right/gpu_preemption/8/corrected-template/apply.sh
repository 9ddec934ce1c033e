sed 's|limits:|requests: {cpu: 100m}\n            limits:|' serve.yaml | kubectl apply -f -
until [ "$(kubectl -n team-b get pods -l app=serve -o name | wc -l)" -eq 2 ]; do :; done
kubectl apply -f serve.yaml
until kubectl -n team-b get workloads.kueue.x-k8s.io -o jsonpath='{.items[?(@.metadata.ownerReferences[0].kind=="Pod")].status.conditions[?(@.type=="QuotaReserved")].status}' | grep -q False; do :; done
printf 'gate=kueue.x-k8s.io/admission\npods=2\n' > gated.txt
kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl -n team-b wait --for=condition=Available --timeout=30s deployment/serve
kubectl -n team-b rollout status deployment/serve --timeout=30s
