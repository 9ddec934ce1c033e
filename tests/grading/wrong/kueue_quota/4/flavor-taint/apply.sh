kubectl patch resourceflavor fake-gpu --type=merge -p '{"spec":{"nodeTaints":[{"key":"attic","effect":"NoSchedule"}]}}'
kubectl apply -f job-1.yaml
