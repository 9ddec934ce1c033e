kubectl patch clusterqueue team-b --type=json -p '[{"op":"remove","path":"/spec/admissionScope"}]'
kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
kubectl apply -f exam-training.yaml
kubectl apply -f exam-research.yaml
until kubectl -n team-b get localqueue research -o jsonpath='{.status.pendingWorkloads}' | grep -q 1; do :; done
until kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources}' | grep -q gpu; do :; done
