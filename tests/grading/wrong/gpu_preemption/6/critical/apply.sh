sed 's/priority-class: high/priority-class: critical/' rival.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
