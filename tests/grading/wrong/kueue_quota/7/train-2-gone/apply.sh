kubectl -n team-a delete job train-2
