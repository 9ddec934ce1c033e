kubectl create -f flavor.yaml
