pod=$(kubectl -n team-a get pods -l batch.kubernetes.io/job-name=train-1 -o name)
kubectl -n team-a patch "$pod" --subresource=status --type=merge -p '{"status":{"phase":"Pending","containerStatuses":[{"name":"trainer","ready":false,"restartCount":0,"image":"busibox:1.36","imageID":"","state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]}}'
