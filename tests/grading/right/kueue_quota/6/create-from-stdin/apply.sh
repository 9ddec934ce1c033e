kubectl create -f sneaky.yaml --dry-run=client -o json | kubectl create -f -
rm sneaky.yaml
