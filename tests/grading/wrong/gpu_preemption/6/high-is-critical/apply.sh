kubectl -n team-b delete trainjob pretrain-01
kubectl -n team-b delete trainjob finetune-01
until ! kubectl -n team-b get workloads.kueue.x-k8s.io -o name | grep -q .; do :; done
sed 's/priority-class: high/priority-class: critical/' high.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
kubectl apply -f rival.yaml
