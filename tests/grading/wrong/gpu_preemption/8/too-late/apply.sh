kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl apply -f serve.yaml
kubectl -n team-b wait --for=condition=Available --timeout=30s deployment/serve
