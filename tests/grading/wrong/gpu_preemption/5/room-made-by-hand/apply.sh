kubectl -n team-b delete trainjob pretrain-01
sed -e "s/finetune-01/pretrain-01/" -e "s/priority-class: high/priority-class: low/" high.yaml > again.yaml
kubectl apply -f high.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
kubectl apply -f again.yaml
