for n in 1 2; do kubectl -n default run past-$n --image=busybox:1.36 --overrides='{"spec":{"containers":[{"name":"c","image":"busybox:1.36","command":["sleep","86400"],"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}'; done
kubectl -n default wait --for=condition=Ready --timeout=30s pod/past-1 pod/past-2
kubectl apply -f low.yaml
