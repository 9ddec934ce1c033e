kubectl -n team-b delete trainjob pretrain-01
kubectl apply -f rival.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl apply -f low.yaml
kubectl apply -f high.yaml
