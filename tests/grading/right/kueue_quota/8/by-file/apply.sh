kubectl delete -f job-1.yaml
