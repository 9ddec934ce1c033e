"""Where k3s keeps things, and where the stand-in finds the programs that k3s carries in itself."""

from pathlib import Path

# Filled in when the stand-in is packed.
VERSION = "@VERSION@"

ETC = Path("/etc/rancher/k3s")
SETTINGS = ETC / "config.yaml"
KUBECONFIG = ETC / "k3s.yaml"
DATA = Path("/var/lib/rancher/k3s")
MANIFESTS = DATA / "server/manifests"
TLS = DATA / "server/tls"
CREDENTIALS = DATA / "server/cred"
AGENT = DATA / "agent"
IMAGES = AGENT / "images"
LOGS = DATA / "standin-logs"
RUN = Path("/run/k3s/containerd")
SOCKET = RUN / "containerd.sock"
CNI = Path("/usr/lib/cni")
PROGRAMS = Path("/opt/k3s-standin")


def program(name: str) -> str:
    """The path of a program that the test machine has been given."""
    found = sorted(PROGRAMS.glob(f"*/{name}"))
    if not found:
        raise SystemExit(f"k3s (stand-in): {PROGRAMS} has no {name}")
    return str(found[0])


def search_path() -> str:
    """PATH for the programs: containerd looks for its shim there."""
    folders = [str(p) for p in sorted(PROGRAMS.iterdir())]
    return ":".join([*folders, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"])
