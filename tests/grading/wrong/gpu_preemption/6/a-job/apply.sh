kubectl apply -f job.yaml
