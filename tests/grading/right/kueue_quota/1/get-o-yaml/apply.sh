kubectl apply -f flavor.yaml
kubectl get resourceflavor fake-gpu -o yaml --show-managed-fields > out && mv out flavor.yaml
