kubectl patch clusterqueue team-b --type=json -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":8}]'
kubectl apply -f rush.yaml
