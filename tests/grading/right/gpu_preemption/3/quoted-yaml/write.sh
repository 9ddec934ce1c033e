kubectl -n team-b get cwpc team-b-batch -o yaml > conflict.txt
