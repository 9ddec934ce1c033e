kubectl -n team-a describe $(kubectl -n team-a get workloads.kueue.x-k8s.io -o name | grep job-train-3-) > waiting.txt
