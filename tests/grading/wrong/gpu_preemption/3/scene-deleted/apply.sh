kubectl delete workloadpriorityclass team-b-batch
