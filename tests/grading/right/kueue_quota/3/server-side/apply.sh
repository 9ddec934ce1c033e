kubectl apply --server-side -f lq.yaml
