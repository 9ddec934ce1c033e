kubectl -n team-a get workload train-3 -o yaml > waiting.txt
