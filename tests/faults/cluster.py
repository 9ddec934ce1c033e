"""Faults inside the cluster: webhooks, the grader's rights, Kueue's kinds."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from tests.faults.site import Site, Way

HOOKS = (
    "mutatingwebhookconfiguration/kueue-mutating-webhook-configuration",
    "validatingwebhookconfiguration/kueue-validating-webhook-configuration",
)
RIGHTS = "clusterrolebinding"


@contextlib.contextmanager
def webhooks_refuse(site: Site) -> Iterator[Way]:
    """Every call of Kueue's webhooks is refused: nobody listens where they are called."""
    before = {name: _urls(site, name) for name in HOOKS}
    for name, urls in before.items():
        _set_urls(site, name, ["https://127.0.0.1:1/refused" for _ in urls])
    try:
        yield Way()
    finally:
        for name, urls in before.items():
            _set_urls(site, name, urls)


def _urls(site: Site, name: str) -> list[str]:
    hooks = json.loads(site.lab.shell(f"kubectl get {name} -o json"))["webhooks"]
    return [hook["clientConfig"]["url"] for hook in hooks]


def _set_urls(site: Site, name: str, urls: list[str]) -> None:
    changes = [
        {"op": "replace", "path": f"/webhooks/{index}/clientConfig/url", "value": url}
        for index, url in enumerate(urls)
    ]
    site.lab.shell(f"kubectl patch {name} --type=json -p '{json.dumps(changes)}'")


@contextlib.contextmanager
def grader_refused(site: Site) -> Iterator[Way]:
    """The grader's account lost its rights: 403 for all it asks."""
    bindings = json.loads(site.lab.shell(f"kubectl get {RIGHTS} -o json"))["items"]
    ours = [
        binding["metadata"]["name"]
        for binding in bindings
        for subject in binding.get("subjects", [])
        if subject["name"] in ("lab-grader", "lab-graders")
    ]
    assert ours, "no binding gives the grader its rights"
    kept = site.home / "run" / "grader-rights.yaml"
    names = " ".join(ours)
    site.lab.shell(f"kubectl get {RIGHTS} {names} -o yaml >{kept}")
    site.lab.shell(f"kubectl delete {RIGHTS} {names}")
    try:
        yield Way()
    finally:
        site.lab.shell(f"kubectl create -f {kept}")
        kept.unlink()


@contextlib.contextmanager
def definitions_going(site: Site) -> Iterator[Way]:
    """Kueue's kinds are being deleted, and every object of them on its way out."""
    site.lab.shell(f"kubectl delete --wait=false {_definitions(site)}")
    yield Way()


@contextlib.contextmanager
def definitions_gone(site: Site) -> Iterator[Way]:
    """Kueue's kinds are not there any more."""
    names = _definitions(site)
    if names:
        site.lab.shell(f"kubectl delete --timeout=60s {names}")
    yield Way()


def _definitions(site: Site) -> str:
    found = site.lab.shell("kubectl get crd -o name").split()
    return " ".join(name for name in found if name.endswith("kueue.x-k8s.io"))
