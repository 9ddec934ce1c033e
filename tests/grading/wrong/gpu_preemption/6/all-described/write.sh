kubectl -n team-b describe workloads.kueue.x-k8s.io > equal.txt
