kubectl patch clusterqueue team-b --type=merge -p '{"spec":{"preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority"}}}'
kubectl apply -f rival.yaml
