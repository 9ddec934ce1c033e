sed '/queue-name/d' rival.yaml | kubectl apply -f -
