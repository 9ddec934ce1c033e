kubectl apply -f high.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=true --timeout=30s trainjob/pretrain-01
kubectl -n team-b delete trainjob finetune-01
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
