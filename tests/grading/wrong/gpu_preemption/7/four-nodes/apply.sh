sed 's/numNodes: 5/numNodes: 4/' rush.yaml | kubectl apply -f -
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/rush-01
