"""Certificates and kubeconfigs, made once with openssl; server certificates anew for new names."""

import base64
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from paths import CREDENTIALS, KUBECONFIG, TLS

AUTHORITIES = ("server-ca", "client-ca", "request-header-ca")
SERVICE = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
CLIENTS = {
    "admin": "/O=system:masters/CN=system:admin",
    "apiserver": "/O=system:masters/CN=system:apiserver",
    "controller": "/CN=system:kube-controller-manager",
    "scheduler": "/CN=system:kube-scheduler",
    "proxy": "/CN=system:kube-proxy",
}
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Node:
    """The node's name and address, and the names by which the API is called from outside."""

    name: str
    address: str
    others: tuple[str, ...] = ()


def openssl(*args: str | Path) -> None:
    command = ["openssl", *map(str, args)]
    done = subprocess.run(command, cwd=TLS, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"k3s (stand-in): {command}: {done.stderr}")


def make_certificates(node: Node) -> None:
    """All that is missing, and all leaves when the node's names have changed."""
    TLS.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not (TLS / "service.key").exists():
        for name in AUTHORITIES:
            usage = "keyUsage=critical,keyCertSign,digitalSignature"
            files = ("-keyout", f"{name}.key", "-out", f"{name}.crt")
            openssl(
                *("req", "-x509", *EC, *files, "-days", "3650"),
                *("-subj", f"/CN=k3s-{name}", "-addext", usage),
            )
        openssl("genrsa", "-out", "service.key", "2048")
    made_for = TLS / "made-for"
    if made_for.exists() and made_for.read_text() == repr(node):
        return
    local = ["IP:127.0.0.1", f"IP:{node.address}", f"DNS:{node.name}", "DNS:localhost"]
    service = ["IP:10.43.0.1", *(f"DNS:{name}" for name in SERVICE)]
    leaf("serving-api", "server-ca", "/CN=k3s", [*local, *service, *map(named, node.others)])
    leaf("serving-kubelet", "server-ca", f"/CN={node.name}", local)
    node_subject = f"/O=system:nodes/CN=system:node:{node.name}"
    for name, subject in {**CLIENTS, "kubelet": node_subject}.items():
        leaf(f"client-{name}", "client-ca", subject)
    leaf("client-auth-proxy", "request-header-ca", "/CN=system:auth-proxy")
    made_for.write_text(repr(node))


def named(name: str) -> str:
    return f"IP:{name}" if re.fullmatch(r"[\d.]+|[\da-f]*:[\da-f:]+", name) else f"DNS:{name}"


def leaf(name: str, authority: str, subject: str, names: list[str] | None = None) -> None:
    openssl("req", *EC, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
    usage = "serverAuth" if names else "clientAuth"
    text = f"extendedKeyUsage={usage}\n"
    if names:
        text += f"subjectAltName={','.join(names)}\n"
    (TLS / "extensions").write_text(text)
    openssl(
        *("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", "-days", "365"),
        *("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial"),
        *("-extfile", "extensions"),
    )


def write_kubeconfigs(mode: int) -> None:
    """The administrator's, where k3s puts it, and one for each client of the API."""
    CREDENTIALS.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("controller", "scheduler", "proxy", "kubelet"):
        write(CREDENTIALS / f"{name}.kubeconfig", kubeconfig(name), 0o600)
    write(KUBECONFIG, kubeconfig("admin"), mode)


def kubeconfig(client: str) -> str:
    def data(file: str) -> str:
        return base64.b64encode((TLS / file).read_bytes()).decode()

    return f"""apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: {data("server-ca.crt")}
    server: https://127.0.0.1:6443
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
users:
- name: default
  user:
    client-certificate-data: {data(f"client-{client}.crt")}
    client-key-data: {data(f"client-{client}.key")}
"""


def write(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=mode)
    path.chmod(mode)
    path.write_text(text)
