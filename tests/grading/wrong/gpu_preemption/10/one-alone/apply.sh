kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
kubectl apply -f exam-training.yaml
kubectl -n team-b delete deployment serve
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s job/exam-training
kubectl apply -f exam-research.yaml
