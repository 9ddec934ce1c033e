kubectl apply -f tenant.yaml
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
kubectl get clusterqueue team-b -o yaml > tenant.yaml
echo --- >> tenant.yaml
kubectl -n team-b get localqueue training -o yaml >> tenant.yaml
