pod=$(kubectl -n team-a get pods -l batch.kubernetes.io/job-name=train-1 -o name)
kubectl -n team-a patch "$pod" --subresource=status --type=merge -p '{"status":{"phase":"Succeeded","containerStatuses":[{"name":"trainer","image":"busybox:1.36","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0}}}]}}'
kubectl -n team-a wait --for=condition=Complete job/train-1 --timeout=30s
