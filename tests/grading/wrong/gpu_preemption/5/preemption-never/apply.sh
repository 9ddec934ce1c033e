kubectl patch clusterqueue team-b --type=merge -p '{"spec":{"preemption":{"withinClusterQueue":"Never"}}}'
kubectl apply -f high.yaml
