kubectl -n team-b describe cwpc team-b-batch > conflict.txt
