kubectl -n team-b get cwpc team-b-urgent -o yaml > conflict.txt
