kubectl -n team-b delete trainjob finetune-01
kubectl apply -f rival.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
