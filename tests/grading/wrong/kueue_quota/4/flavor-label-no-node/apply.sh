kubectl patch resourceflavor fake-gpu --type=merge -p '{"spec":{"nodeLabels":{"zone":"attic"}}}'
kubectl apply -f job-1.yaml
