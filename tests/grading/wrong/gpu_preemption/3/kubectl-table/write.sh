kubectl -n team-b get cwpc > conflict.txt
