kubectl -n team-a describe job train-3 > waiting.txt
