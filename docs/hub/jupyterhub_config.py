"""JupyterHub for a class on Kubernetes: a pod with server and place for each learner.

NOT RUN where this was written: there was no cluster with container nodes. `make hub-demo` runs the
same server under SimpleLocalProcessSpawner. Values to change are in capitals. See docs/hub.md.
"""

c = get_config()  # noqa: F821  (given by JupyterHub)

# The server of each learner. All else comes by the hub's own environment variables.
c.Spawner.cmd = ["lab-singleuser"]
c.Spawner.default_url = "/learn"
c.Spawner.environment = {"LAB_LANG": "en"}
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 60
c.Spawner.poll_interval = 5
c.JupyterHub.allow_named_servers = False  # two servers of one learner would share a place

c.JupyterHub.spawner_class = "kubespawner.KubeSpawner"
c.KubeSpawner.image = "REGISTRY/gpu-queue-lab:TAG"
c.KubeSpawner.uid = c.KubeSpawner.gid = c.KubeSpawner.fs_gid = 1000
c.KubeSpawner.mem_guarantee, c.KubeSpawner.mem_limit = "1280M", "2G"
c.KubeSpawner.cpu_guarantee, c.KubeSpawner.cpu_limit = 0.5, 2
c.KubeSpawner.delete_grace_period = 30  # the place goes down in order within this
c.KubeSpawner.storage_pvc_ensure = True
c.KubeSpawner.pvc_name_template = "learner-{username}"
c.KubeSpawner.storage_capacity = "2Gi"
c.KubeSpawner.storage_access_modes = ["ReadWriteOnce"]
c.KubeSpawner.volumes = [
    {"name": "home", "persistentVolumeClaim": {"claimName": "learner-{username}"}}
]
c.KubeSpawner.volume_mounts = [{"name": "home", "mountPath": "/home/learner"}]

# A browser keeps learners apart only when each has a host name of their own (wildcard DNS and TLS).
c.JupyterHub.subdomain_host = "https://HUB.EXAMPLE"
c.JupyterHub.authenticator_class = "AUTHENTICATOR"
c.Authenticator.allowed_users = {"LEARNER"}

# An open tab is never idle, so that only an age ends what somebody forgot.
c.JupyterHub.services = [
    {
        "name": "culler",
        "command": [
            *("python3", "-m", "jupyterhub_idle_culler"),
            *("--timeout=1800", "--max-age=14400", "--cull-every=120"),
        ],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "culler",
        "services": ["culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
