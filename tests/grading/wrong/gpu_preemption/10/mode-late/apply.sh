kubectl -n team-b delete deployment serve
kubectl -n team-b delete trainjob finetune-02
until ! kubectl -n team-b get workloads.kueue.x-k8s.io -o name | grep -q .; do :; done
kubectl -n team-b delete localqueue training
kubectl delete clusterqueue team-b
sed '/admissionScope:/d; /admissionMode:/d' tenant.yaml | kubectl apply -f -
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
kubectl apply -f tenant.yaml
kubectl wait --for=condition=Active --timeout=30s clusterqueue/team-b
kubectl apply -f rival.yaml -f filler.yaml
kubectl -n team-b wait --for=jsonpath='{.status.ready}'=1 --timeout=30s job/filler
kubectl -n team-b wait --for=jsonpath='{.spec.suspend}'=false --timeout=30s trainjob/finetune-02
kubectl apply -f research.yaml
kubectl -n team-b wait --for=condition=Active --timeout=30s localqueue/research
kubectl apply -f exam-training.yaml
# Ages count in whole seconds: within one the uids decide.
then=$(date +%s)
until [ "$(date +%s)" -gt "$then" ]; do :; done
kubectl apply -f exam-research.yaml
until kubectl -n team-b get localqueue research -o jsonpath='{.status.pendingWorkloads}' | grep -q 1; do :; done
until kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources}' | grep -q gpu; do :; done
until kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources}' | grep -q '[1-9][0-9]\{7,\}n'; do :; done
t=$(kubectl -n team-b get localqueue training -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources.nvidia\.com/gpu}')
r=$(kubectl -n team-b get localqueue research -o jsonpath='{.status.fairSharing.admissionFairSharingStatus.consumedResources.nvidia\.com/gpu}')
kubectl -n team-b delete job filler
until kubectl -n team-b get job exam-research exam-training -o jsonpath='{.items[*].spec.suspend}' | grep -q false; do :; done
cat > order.json <<END
{"first": "exam-training", "consumed": {"training": "$t", "research": "$r"}, "weight": {"training": "2", "research": "1"}}
END
