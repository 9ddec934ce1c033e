sed 's/numNodes: 4/numNodes: 2/' low.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/pretrain-01
kubectl apply -f low.yaml
