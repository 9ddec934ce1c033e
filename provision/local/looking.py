"""What a place is and how it fares, for `status` and for checks; changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from provision.local.api import make_pool, why_not_ready
from provision.local.place import Place
from provision.local.plan import Component
from provision.local.running import Running
from provision.message import Message, say
from provision.state import PlaceState
from provision.target import ComponentStatus, TargetInfo
from provision.versions import kueue_written_for

# What people call a part of which several programs are built.
VERSION_NAMES = {"kubernetes": "kube-apiserver", "kueue": "kueue", "kwok": "kwok", "etcd": "etcd"}


def look(components: Iterable[Component], running: Running) -> tuple[ComponentStatus, ...]:
    """Running and ready of every component, all probes asked side by side."""
    pids = running.pids()
    chosen = tuple(components)
    with ThreadPoolExecutor(max_workers=max(1, len(chosen))) as pool:
        return tuple(pool.map(lambda c: _look_at(c, pids.get(c.name)), chosen))


def _look_at(component: Component, pid: int | None) -> ComponentStatus:
    if pid is not None:
        detail = probe_once(component)
    else:
        detail = None if component.is_on_demand else say("it does not run")
    return ComponentStatus(
        name=component.name,
        is_running=pid is not None,
        is_ready=pid is not None and detail is None,
        detail=detail,
        pid=pid,
        version=component.version,
        log=component.log,
        is_needed=component.is_needed,
        is_on_demand=component.is_on_demand,
    )


def probe_once(component: Component) -> Message | None:
    """None when the component's probe answers well, else what is wrong."""
    with make_pool(component.probe) as pool:
        return why_not_ready(pool, component.probe)


def describe(place: Place, state: PlaceState) -> TargetInfo:
    """The target as checks and people know it."""
    names = VERSION_NAMES | {name: name for name in place.added_parts()}
    versions = {name: state.versions.get(part, "") for name, part in names.items()}
    return TargetInfo(
        name="local",
        lab=place.spec.lab,
        kubeconfig=place.kubeconfig,
        grader_kubeconfig=place.grader_kubeconfig,
        workspace=place.spec.workspace,
        host="local://",
        versions=versions,
        note=kueue_note(place, versions["kueue"], is_override=state.is_override),
    )


def kueue_note(place: Place, version: str, *, is_override: bool) -> Message | None:
    """In what this Kueue differs from the one the labs are written for; None when in nothing."""
    written_for = kueue_written_for()
    if is_override:
        return say(
            "Kueue {version} runs here because KUEUE_VERSION asks for it; this combination is "
            "untested. The labs are written for Kueue {written_for}.",
            version=version,
            written_for=written_for,
        )
    if not version or version == written_for:
        return None
    return say(
        "Kueue {version} runs here and is set to answer as {written_for}, which the labs are "
        "written for: v1beta1 is not served, and these feature gates are set: {gates}.",
        version=version,
        written_for=written_for,
        gates=", ".join(place.gates(version)),
    )
