kubectl -n team-a annotate job train-1 note=done
kubectl -n team-a delete jobs --field-selector metadata.name=train-1
