kubectl -n team-a create job sneaky --image=busybox:1.36 -- tail -f /dev/null
