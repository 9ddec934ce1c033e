module gpu-queue-lab-pause

go 1.26.0
