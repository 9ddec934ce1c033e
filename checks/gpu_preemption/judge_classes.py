"""The classes of priority: the platform's, a tenant's own, and one whose name is taken."""

from __future__ import annotations

import re
from collections.abc import Mapping

from checks.gpu_preemption.facts import BatchFacts, Facts, UrgentFacts
from checks.gpu_preemption.wanted import want_class
from checks.judging.quoted import Quoted, quoted_conditions
from checks.kit.cluster import Object
from checks.kit.expect import OnItsWay, cut, mismatch, plain, show
from checks.kit.files import TextFile
from checks.kit.keyvalues import read_key_values
from checks.kit.manifests import parse_json, place
from checks.kit.paths import dig, dig_text
from checks.kit.witness import in_cluster
from checks.outcome import CannotTell, Finding, Mismatch
from checks.scene import Scene
from checks.things import Condition, Thing, common_facts
from provision.message import Message, say

_READY = "Ready"
_OWNER = "kakaocloud.io/namespace"  # so does this: of the object that a class was made for
_MANAGED = "kakaocloud.io/managed-by"  # the platform's controller puts it on classes that it made


def read_values(file: TextFile, lab: Facts) -> Mapping[str, int]:
    """The value of each of the platform's classes in the learner's file; Mismatch without them."""
    content = parse_json(file)
    names = tuple(lab.classes.values)
    wanted = say("an object with the keys {keys} at the top", keys=", ".join(names))
    if not isinstance(content, dict):
        raise mismatch(place(file), wanted, plain(show(content)), _SHAPE)
    missing = [name for name in names if name not in content]
    if missing:
        found = say(
            "no {missing}; the keys are {keys}",
            missing=", ".join(missing),
            keys=cut(", ".join(str(key) for key in content)) or "-",
        )
        raise mismatch(place(file), wanted, found, _SHAPE)
    return {name: _number(file, name, content[name]) for name in names}


def require_values(scene: Scene, lab: Facts, file: TextFile, written: Mapping[str, int]) -> None:
    """What the file says of each class is what it says in the cluster, as the platform made it."""
    for name, value in written.items():
        raw = scene.priority_class(name)
        if raw is None:
            raise mismatch(
                say("WorkloadPriorityClass {name} in the cluster", name=name),
                say("there, as the platform made it"),
                say("no such object"),
                say("it was there from the start: make reset brings it back"),
            )
        live = dig(raw, "value")
        if live != lab.classes.values[name]:
            raise mismatch(
                say("WorkloadPriorityClass {name}, value", name=name),
                say("there, as the platform made it"),
                say("{value}: it was changed", value=show(live)),
                say("it was there from the start: make reset brings it back"),
            )
        if value != live:
            raise mismatch(
                place(file, None, name),
                say("the value that WorkloadPriorityClass {name} has", name=name),
                plain(f"{name}: {value}"),
                say("read it from the cluster: kubectl get workloadpriorityclasses"),
            )


def require_ready(scene: Scene, lab: Facts) -> tuple[Thing, Condition]:
    """The tenant's own class is READY, and Kueue's class of that name has its value."""
    wanted = lab.urgent
    thing, ready = _read(scene, lab, wanted)
    where = in_cluster(want_class(lab, wanted), f"status.conditions[{_READY}]")
    if ready is None:
        raise _owed(where, say("no such condition yet"))
    made = scene.priority_class(wanted.name)
    if not ready.is_true:
        found = plain(f"{ready.status}: {ready.reason}: {ready.message}")
        raise mismatch(where, plain("True"), found, _how_to_free(lab, made or {}))
    if made is None or dig(made, "value") != wanted.value:
        found = say("no such object") if made is None else plain(show(dig(made, "value")))
        raise _owed(say("WorkloadPriorityClass {name}, value", name=wanted.name), found)
    return thing, ready


def _how_to_free(lab: Facts, taken: Object) -> Message:
    """The next move when another one has the name: the platform would make it again for its own."""
    owner = dig_text(taken, "metadata", "annotations", _OWNER)
    if owner in ("", lab.namespace):
        return say(
            "delete both, the class of that name and yours, then apply {file} again",
            file=lab.urgent.file,
        )
    return say(
        "it belongs to the namespace {namespace}: delete the CustomWorkloadPriorityClass {name} "
        "there, and yours gets the name",
        namespace=owner,
        name=lab.urgent.name,
    )


def require_taken(scene: Scene, lab: Facts) -> Object:
    """The name is taken by a class that the platform did not make: the scene of the step."""
    name = lab.batch.name
    raw = scene.priority_class(name)
    where = say("WorkloadPriorityClass {name} in the cluster", name=name)
    expected = say("there before you come, and not made by the platform")
    if raw is None:
        raise mismatch(where, expected, say("no such object"), _START)
    if dig_text(raw, "metadata", "labels", _MANAGED):
        move = say(
            "delete your CustomWorkloadPriorityClass {name}; {start}", name=name, start=_START
        )
        raise mismatch(where, expected, say("made by the platform, for your own class"), move)
    return raw


def require_conflict(scene: Scene, lab: Facts) -> tuple[Thing, Condition]:
    """The class whose name is taken is not READY, as its own condition says."""
    thing, ready = _read(scene, lab, lab.batch)
    where = in_cluster(want_class(lab, lab.batch), f"status.conditions[{_READY}]")
    if ready is None:
        raise _owed(where, say("no such condition yet"))
    if ready.is_true:
        # The name is taken, as was asked before: the platform has not looked since.
        raise _owed(where, plain(f"{ready.status}: {ready.reason}"))
    return thing, ready


def require_noted(file: TextFile, lab: Facts, ready: Condition) -> None:
    """The file says READY and its reason as the class has them."""
    wanted = lab.batch
    live = {wanted.ready_key: ready.status, wanted.reason_key: ready.reason}
    quoted = [one for one in quoted_conditions(file.text) if one.type == _READY]
    if quoted:
        _require_quoted(file, live, quoted)
        return
    for key, value in read_key_values(file, tuple(live)).items():
        if value.text.casefold() != live[key].casefold():
            raise mismatch(
                place(file, value.line),
                say("what the class says, as {key}=...", key=key),
                plain(f"{key}={value.text}") if value.text else say("{key}= and nothing", key=key),
                say("compare it with kubectl get cwpc, or with its condition Ready"),
            )


def _require_quoted(file: TextFile, live: Mapping[str, str], quoted: list[Quoted]) -> None:
    """One of them is that of the class, and each of the others belongs to another object."""
    wanted = tuple(live.values())
    told = {(one.status, one.reason): None for one in quoted}
    if wanted in told and len(told) <= max(1, len(set(_NAME.findall(file.text)))):
        return
    shown = [": ".join(one) for one in told]
    raise mismatch(
        place(file),
        say("the condition Ready as the class has it now"),
        plain(", ".join(shown if wanted in told else shown[:1])),
        say("read it again: kubectl describe cwpc"),
    )


def _read(
    scene: Scene, lab: Facts, wanted: UrgentFacts | BatchFacts
) -> tuple[Thing, Condition | None]:
    raw = scene.cluster.one(lab.custom_class_kind, wanted.name, lab.namespace)
    if raw is None:
        raise LookupError("the object was checked before")
    thing = Thing(**common_facts(raw))
    return thing, thing.conditions.get(_READY)


def _owed(where: Message, found: Message) -> Mismatch:
    """What the platform's controller does within a second when it runs."""
    idle = CannotTell(
        say("the platform's controller does not act: {what}", what=found),
        next_move=say("see make status and make logs NAME=platform"),
    )
    finding = Finding(where, say("what the platform says"), found, _AGAIN)
    return OnItsWay(finding, overdue=idle)


def _number(file: TextFile, name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    move = say("write the number alone: {key}: 250, without quotation marks", key=f'"{name}"')
    found = say("{key}: {value}", key=name, value=show(value))
    raise mismatch(place(file, None, name), say("{key}: a number", key=name), found, move)


_NAME = re.compile(r"""^[ \t"'-]*name["']?:[ \t]*["']?([\w.-]+)""", re.I | re.M)
_AGAIN = say("wait a second and check again")
_START = say("make start STEP=3 lays it out")
_SHAPE = say("write one JSON object with these keys and a number behind each")
