kubectl get clusterqueue team-a -o go-template='{"admitted":{{.status.admittedWorkloads}},"pending":{{.status.pendingWorkloads}},"gpu_reserved":3}' > usage.json
