"""Kubeconfig files with everything inside, so that one file is all a program needs."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml


def kubeconfig(server: str, pki: Path, identity: str, *, user: str) -> str:
    """The text of a kubeconfig for the client certificate `identity`; `user` is the name shown."""

    def inline(name: str) -> str:
        return base64.b64encode((pki / name).read_bytes()).decode()

    cluster = {"server": server, "certificate-authority-data": inline("ca.crt")}
    credentials = {
        "client-certificate-data": inline(f"{identity}.crt"),
        "client-key-data": inline(f"{identity}.key"),
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "gpu-queue-lab", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "lab", "context": {"cluster": "gpu-queue-lab", "user": user}}],
        "current-context": "lab",
    }
    return yaml.safe_dump(content, sort_keys=False)
