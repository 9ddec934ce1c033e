sed '/labels:/d; /queue-name/d' job-1.yaml | kubectl apply -f -
kubectl -n team-a wait --for=jsonpath={.status.ready}=1 job/train-1 --timeout=30s
kubectl apply -f job-1.yaml
