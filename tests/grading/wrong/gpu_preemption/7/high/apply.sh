sed 's/priority-class: critical/priority-class: high/' rush.yaml | kubectl apply -f -
