"""`k3s server`: brings everything up, tells systemd, and watches until it is told to stop."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request

import control
import node as agent
from certificates import Node, make_certificates, write_kubeconfigs
from children import Children, Ended, log
from options import Options, last, read_options
from paths import KUBECONFIG, RUN, SETTINGS, SOCKET, TLS, program
from watching import Watched

API = "https://127.0.0.1:6443"


class Stopped(Exception):
    """systemd has said so."""


def serve(flags: list[str]) -> None:
    """Run until SIGTERM; exit code 1 when a part of it ends before that."""
    signal.signal(signal.SIGTERM, _on_signal)
    signal.signal(signal.SIGINT, _on_signal)
    children, code = Children(), 0
    try:
        _run(children, read_options(SETTINGS, flags))
    except Stopped:
        pass
    except Ended as error:
        log(error)
        code = 1
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    notify("STOPPING=1")
    children.stop()
    sys.exit(code)


def _on_signal(*_: object) -> None:
    raise Stopped


def _run(children: Children, options: Options) -> None:
    name = last(options, "node-name", socket.gethostname())
    node = Node(name, last(options, "node-ip", _address()), tuple(options.get("tls-san", ())))
    make_certificates(node)
    write_kubeconfigs(int(last(options, "write-kubeconfig-mode", "0600"), 8))
    log("certificates and kubeconfigs are there")
    RUN.mkdir(parents=True, exist_ok=True)
    watched = Watched()
    agent.configure_containerd()
    children.start("containerd", "-c", str(agent.CONTAINERD))
    children.start("etcd", *control.etcd())
    children.start("kube-apiserver", *control.apiserver(node))
    children.wait_for("containerd answers", _containerd_answers)
    # As k3s does it: before there is a kubelet that would miss them.
    watched.import_images()
    children.wait_for("the API server is ready", lambda: bool(ask("/readyz")))
    children.start("kube-controller-manager", *control.controller_manager())
    children.start("kube-scheduler", *control.scheduler())
    agent.configure_kubelet()
    agent.configure_proxy(node, options)
    children.start("kubelet", *agent.kubelet_arguments(node, options))
    children.start("kube-proxy", f"--config={agent.PROXY}")
    # k3s, too, says so before its node is ready.
    notify("READY=1")
    children.wait_for("the node is there", lambda: bool(ask(f"/api/v1/nodes/{node.name}")))
    _label(node.name)
    while True:
        children.require_all()
        watched.import_images()
        watched.apply_manifests()
        time.sleep(1)


def _address() -> str:
    """That of the default route, as k3s finds it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; an address for documentation
        except OSError as error:
            raise Ended(f"no default route found: {error}") from error
        return str(probe.getsockname()[0])


def _containerd_answers() -> bool:
    command = [program("ctr"), f"--address={SOCKET}", "version"]
    return subprocess.run(command, capture_output=True, timeout=5, check=False).returncode == 0


def ask(path: str) -> bytes:
    """What the API says to a GET by the administrator; OSError when it does not answer 200."""
    context = ssl.create_default_context(cafile=TLS / "server-ca.crt")
    context.load_cert_chain(TLS / "client-admin.crt", TLS / "client-admin.key")
    with urllib.request.urlopen(API + path, context=context, timeout=3) as answer:
        return bytes(answer.read())


def _label(name: str) -> None:
    label = "node-role.kubernetes.io/control-plane=true"
    if "node-role.kubernetes.io/control-plane" in json.loads(ask(f"/api/v1/nodes/{name}"))[
        "metadata"
    ].get("labels", {}):
        return
    kubectl = [program("kubectl"), f"--kubeconfig={KUBECONFIG}"]
    subprocess.run([*kubectl, "label", "node", name, label], timeout=20, check=False)


def notify(word: str) -> None:
    """Tell systemd, when it waits for a word."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(word.encode(), address.replace("@", "\0", 1))
