kubectl -n team-a delete job train-1 train-2 train-3
for n in 2 3; do sed '/queue-name/d; /labels:/d' job-$n.yaml | kubectl apply -f -; done
