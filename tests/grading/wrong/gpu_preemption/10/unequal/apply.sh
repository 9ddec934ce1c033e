kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
sed 's/class: normal/class: high/' exam-research.yaml | kubectl apply -f -
kubectl apply -f exam-training.yaml
