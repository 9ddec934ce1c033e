kubectl -n team-a get localqueue lq-b -o go-template='{"admitted":{{.status.admittedWorkloads}},"pending":{{.status.pendingWorkloads}},"gpu_reserved":0}' > usage.json
