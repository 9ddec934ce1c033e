kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
kubectl apply -f exam-training.yaml
kubectl apply -f exam-research.yaml
until kubectl -n team-b get localqueue research -o jsonpath='{.status.pendingWorkloads}' | grep -q 1; do :; done
until kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources}' | grep -q gpu; do :; done
t=$(kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources.nvidia\.com/gpu}')
r=$(kubectl -n team-b get localqueue research -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources.nvidia\.com/gpu}')
kubectl -n team-b wait --for=condition=Admitted --timeout=1s workloads.kueue.x-k8s.io --all >/dev/null 2>&1
kubectl -n team-b delete deployment serve
until kubectl -n team-b get job exam-research exam-training -o jsonpath='{.items[*].spec.suspend}' | grep -q false; do :; done
cat > order.json <<END
{"first": "exam-research", "consumed": {"training": 3.2, "research": 1.1}, "weight": {"training": "2", "research": "1"}}
END
