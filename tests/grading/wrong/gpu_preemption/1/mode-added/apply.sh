sed '/admissionScope:/d; /admissionMode:/d' tenant.yaml | kubectl apply -f -
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
kubectl apply -f tenant.yaml
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
