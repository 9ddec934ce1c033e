kubectl -n team-a get workloads.kueue.x-k8s.io -o name | grep job-train-1- | xargs -I{} kubectl -n team-a patch {} --type=merge -p '{"spec":{"active":false}}'
