kubectl apply -f banned.yaml > refused.txt 2>&1
kubectl delete workloadpriorityclass team-b-urgent
