kubectl delete --raw '/apis/batch/v1/namespaces/team-a/jobs/train-1?propagationPolicy=Background'
