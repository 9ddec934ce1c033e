kubectl apply -f serve.yaml
until kubectl -n team-b get workloads.kueue.x-k8s.io -o jsonpath='{.items[?(@.metadata.ownerReferences[0].kind=="Pod")].status.conditions[?(@.type=="QuotaReserved")].status}' | grep -q False; do :; done
printf 'gate=kueue.x-k8s.io/admission\npods=2\n' > gated.txt
kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl -n team-b wait --for=condition=Available --timeout=30s deployment/serve
sed -i 's/busybox:1.36/busybox:1.37/' serve.yaml
kubectl -n team-b delete trainjob pretrain-01
kubectl -n team-b patch deployment serve --type=merge -p '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
kubectl apply -f serve.yaml
kubectl -n team-b rollout status deployment/serve --timeout=60s
