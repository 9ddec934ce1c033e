kubectl apply -f low.yaml
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
kubectl -n team-b wait --for=jsonpath='{.status.ready}'=4 --timeout=30s job/pretrain-01-node-0
until kubectl -n team-b get workloads.kueue.x-k8s.io -o jsonpath='{.items[0].status.conditions[?(@.type=="PodsReady")].status}' | grep -q True; do :; done
sed -e 's/pretrain-01/finetune-01/' -e 's/priority-class: low/priority-class: high/' low.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-01
