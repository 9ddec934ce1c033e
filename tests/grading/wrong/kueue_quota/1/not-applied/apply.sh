kubectl apply --dry-run=server -f flavor.yaml
