kubectl apply -f low.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
kubectl -n team-b wait --for=condition=Complete --timeout=30s trainjob/pretrain-01
