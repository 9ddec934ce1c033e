kubectl apply -f tenant.yaml
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
kubectl patch clusterqueue team-b --type=json -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":"6"}]'
