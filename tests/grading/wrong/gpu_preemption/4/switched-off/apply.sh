kubectl apply -f low.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
kubectl -n team-b get workloads.kueue.x-k8s.io -o name | xargs -I% kubectl -n team-b patch % --type=merge -p '{"spec":{"active":false}}'
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=true --timeout=30s trainjob/pretrain-01
