sed 's/name: lq/name: lq-b/' lq.yaml | kubectl apply -f -
