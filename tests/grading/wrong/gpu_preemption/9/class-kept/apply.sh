kubectl apply -f banned.yaml > refused.txt 2>&1
kubectl apply -f orphan.yaml
