sed 's/clusterQueue: team-a/clusterQueue: team-b/' lq.yaml | kubectl apply -f -
kubectl -n team-a delete localqueue lq
kubectl apply -f lq.yaml
