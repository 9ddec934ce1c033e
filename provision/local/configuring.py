"""What components read at their start: configurations, certificates and kubeconfigs, written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from provision.files import write_atomically
from provision.local.certificates import LEAVES, LOOPBACK, Leaf
from provision.local.components import DATA, PartSet
from provision.local.kubeconfig import kubeconfig
from provision.local.plan import Blanks, Folders
from provision.overlay import merge

KUEUE = "kueue.yaml"
FILLED = (KUEUE, "kwok-logs.yaml")
COPIED = ("kwok-stages.yaml", "audit-policy.yaml", "container.log")
# File name, client certificate, and the user name that people see.
INTERNAL_KUBECONFIGS = (
    ("controller-manager.kubeconfig", "controller-manager-client", "kube-controller-manager"),
    ("scheduler.kubeconfig", "scheduler-client", "kube-scheduler"),
    ("kwok.kubeconfig", "kwok-client", "kwok"),
    ("kueue.kubeconfig", "kueue-client", "kueue"),
)
KUEUE_SERVING = {"tls.crt": "kueue-webhook.crt", "tls.key": "kueue-webhook.key"}


def leaves_of(sets: Iterable[PartSet]) -> tuple[Leaf, ...]:
    """The certificates that a place with these sets has."""
    added: list[Leaf] = []
    for chosen in sets:
        added += [
            Leaf(f"{name}-client", "ca", name, group, is_client=True)
            for name, group in chosen.accounts.items()
        ]
        added += [
            Leaf(f"{name}-webhook", "ca", f"{name}-webhook", hosts=LOOPBACK)
            for name in chosen.serving
        ]
    return (*LEAVES, *added)


def write_configurations(
    folders: Folders, blanks: Blanks, sets: Iterable[PartSet], kueue: Mapping[str, object]
) -> None:
    """Fill or copy what the sets' components read; `kueue` is merged into Kueue's own one."""
    filled = blanks.for_yaml()
    for name in (*FILLED, *(n for s in sets for n in s.configurations)):
        text = filled.fill((DATA / name).read_text("utf-8"))
        if name == KUEUE and kueue:
            merged = merge(yaml.load(text, Loader=yaml.CSafeLoader), kueue)
            text = yaml.safe_dump(merged, sort_keys=False)
        write_atomically(folders.conf / name, text)
    for name in COPIED:
        write_atomically(folders.conf / name, (DATA / name).read_bytes())


def write_serving(folders: Folders, blanks: Blanks, sets: Iterable[PartSet]) -> None:
    """Put the pairs of webhook servers where they look for them."""
    pairs = {**KUEUE_SERVING, "ca.crt": "kueue-ca.crt"}
    _copy_pair(folders.pki, folders.conf / "kueue-webhook", pairs)
    for name, folder in ((n, f) for s in sets for n, f in s.serving.items()):
        pairs = {"tls.crt": f"{name}-webhook.crt", "tls.key": f"{name}-webhook.key"}
        _copy_pair(folders.pki, Path(blanks.fill(folder)), pairs)


def write_kubeconfigs(
    folders: Folders, sets: Iterable[PartSet], port: int, people: Mapping[Path, tuple[str, str]]
) -> None:
    """Write those of the components, and of `people`: client certificate and name of a file."""
    files = {folders.conf / n: (identity, user) for n, identity, user in INTERNAL_KUBECONFIGS}
    accounts = [name for s in sets for name in s.accounts]
    files |= {folders.conf / f"{name}.kubeconfig": (f"{name}-client", name) for name in accounts}
    for path, (identity, user) in (files | dict(people)).items():
        server = f"https://127.0.0.1:{port}"
        write_atomically(path, kubeconfig(server, folders.pki, identity, user=user))


def _copy_pair(pki: Path, folder: Path, pairs: Mapping[str, str]) -> None:
    for name, source in pairs.items():
        write_atomically(folder / name, (pki / source).read_bytes())
