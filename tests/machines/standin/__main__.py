"""A stand-in for the k3s executable: its command line, paths, settings file and word to systemd.

Beneath are etcd, Kubernetes and containerd as upstream makes them, and Debian's runc and CNI.
It knows nothing of helm charts, and brings no CoreDNS, storage, ingress or metrics.
"""

import os
import sys
from pathlib import Path

import paths
from server import serve

ABOUT = __doc__


def main() -> None:
    called, words = Path(sys.argv[0]).name, sys.argv[1:]
    if called in ("kubectl", "ctr", "crictl"):
        words = [called, *words]
    if not words or words[0] in ("help", "--help", "-h"):
        print(ABOUT)
    elif words[0] in ("--version", "-v"):
        print(f"k3s version {paths.VERSION} (stand-in)")
    elif words[0] == "kubectl":
        os.environ.setdefault("KUBECONFIG", str(paths.KUBECONFIG))
        become("kubectl", words)
    elif words[0] == "ctr":
        os.environ.setdefault("CONTAINERD_ADDRESS", str(paths.SOCKET))
        os.environ.setdefault("CONTAINERD_NAMESPACE", "k8s.io")
        become("ctr", words)
    elif words[0] == "server":
        serve(words[1:])
    else:
        sys.exit(f"k3s (stand-in): there is no command {words[0]}")


def become(name: str, words: list[str]) -> None:
    program = paths.program(name)
    os.execv(program, [name, *words[1:]])


if __name__ == "__main__":
    main()
