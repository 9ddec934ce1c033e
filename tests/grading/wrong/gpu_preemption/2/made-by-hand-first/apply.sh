printf 'apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: team-b-urgent}\nvalue: 1200\n' | kubectl apply -f -
kubectl apply -f urgent.yaml
