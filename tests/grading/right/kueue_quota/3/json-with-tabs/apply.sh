kubectl create -f lq.yaml
