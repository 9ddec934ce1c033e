w=$(kubectl -n team-a get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=$(kubectl -n team-a get job train-3 -o jsonpath='{.metadata.uid}') -o jsonpath='{.items[0].metadata.name}')
kubectl -n team-a get events --field-selector involvedObject.name=$w > waiting.txt
