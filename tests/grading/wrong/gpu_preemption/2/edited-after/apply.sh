sed 's/1200/1100/' urgent.yaml | kubectl apply -f -
