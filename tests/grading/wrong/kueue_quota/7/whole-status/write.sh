kubectl get clusterqueue team-a -o 'jsonpath={.status}' > usage.json
