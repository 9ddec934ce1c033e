kubectl delete clusterqueue team-a
kubectl apply -f lq.yaml
