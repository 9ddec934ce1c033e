kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
kubectl apply -f exam-training.yaml
sed 's/queue-name: research/queue-name: training/' exam-research.yaml | kubectl apply -f -
