kubectl apply -f urgent.yaml
