sed -e 's/pretrain-01/mine/' -e 's/numNodes: 4/numNodes: 2/' -e 's/priority-class: low/priority-class: normal/' low.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/mine
kubectl apply -f low.yaml
