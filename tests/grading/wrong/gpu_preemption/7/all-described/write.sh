until kubectl -n team-b describe workloads.kueue.x-k8s.io > ceiling.txt && grep -q ExceedsMaxQuota ceiling.txt; do :; done
