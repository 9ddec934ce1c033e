tar czf job-1.yaml flavor.yaml cq.yaml
