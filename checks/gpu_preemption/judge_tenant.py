"""What the tenant's ClusterQueue and its LocalQueue must say.

Each function takes a manifest, from a file or from the cluster, and returns what is off in it.
Field rules are those of Kueue's v1beta2 types (apis/kueue/v1beta2, clusterqueue_types.go and
fairsharing_types.go).
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.gpu_preemption.facts import Facts
from checks.judging.queues import (
    judge_cohort,
    judge_resources,
    judge_selector,
    judge_stop,
    judge_target,
    shown,
)
from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show
from checks.kit.paths import MISSING, dig, dig_list, dig_map, dig_text, places_of
from checks.kit.quantities import BadQuantity, is_same_amount, parse_quantity
from checks.reasons.queues import matches
from checks.recording.facts import NO_MODE
from provision.message import Message, say

_NAME_LABEL = "kubernetes.io/metadata.name"  # the API server puts it on every namespace
# What Kueue takes when a field is absent.
DEFAULT_WEIGHT = 1
_DEFAULTS = {
    "withinClusterQueue": "Never",
    "reclaimWithinCohort": "Never",
    "queueingStrategy": "BestEffortFIFO",
    "admissionMode": NO_MODE,
}


def judge_cluster_queue(content: Object, facts: Facts) -> Fault | None:
    """The ClusterQueue of the tenant: its quota, its rules of preemption and of the line."""
    tenant = facts.tenant
    wanted: tuple[tuple[Path, str], ...] = (
        (("spec", "preemption", "withinClusterQueue"), tenant.within),
        (("spec", "preemption", "reclaimWithinCohort"), tenant.reclaim),
        (("spec", "queueingStrategy"), tenant.strategy),
    )
    mode: Path = ("spec", "admissionScope", "admissionMode")
    return (
        judge_cohort(content, facts.api_version)
        or _judge(content, mode, tenant.mode, facts)  # first: another apply is no help for it
        or _judge_selector(content, facts)
        or judge_stop(content)
        or judge_resources(content, facts.flavor.name, {facts.gpu: str(tenant.gpus)})
        or next((f for path, value in wanted if (f := _judge(content, path, value, facts))), None)
        or _judge_alone(content)
    )


def judge_local_queue(content: Object, facts: Facts) -> Fault | None:
    """The LocalQueue leads to the tenant's ClusterQueue, is open, and has its weight."""
    return (
        judge_target(content, facts.tenant.cluster_queue)
        or judge_stop(content)
        or judge_weight(content, facts.tenant.weight)
    )


def judge_weight(content: Object, weight: str) -> Fault | None:
    """The LocalQueue has that weight under fair sharing."""
    path: Path = ("spec", "fairSharing", "weight")
    value = dig(content, *path)
    if value is not MISSING and is_same_amount(value, weight):
        return None
    if value is MISSING:
        places = [place for place in places_of(content, "weight") if place != path]
        if not places and is_same_amount(weight, DEFAULT_WEIGHT):
            return None
        found = say("no such field, which means a weight of 1")
        if places:
            found = say("no such field, but a weight in {field}", field=_spell(places[0][:-1]))
    else:
        found = _no_quantity(value)
    move = say("see kubectl explain localqueue.spec.fairSharing")
    return Fault(path, plain(f"weight: {show(weight)}"), found, move)


def _judge(content: Object, path: Path, wanted: str, facts: Facts) -> Fault | None:
    """One of the settings that are a word; absent means what Kueue takes then."""
    field = str(path[-1])
    value = dig(content, *path)
    taken = _DEFAULTS[field] if value in (MISSING, None) else value
    if taken == wanted:
        return None
    if value is None or value is MISSING:
        places = [place for place in places_of(content, field) if place != path]
        found = say("no such field, which means {value}", value=_DEFAULTS[field])
        if places:
            found = say("no such field there, but one in {field}", field=_spell(places[0][:-1]))
    else:
        found = shown(value)
    move = say("see kubectl explain clusterqueue.{field}", field=_spell(path))
    remedy = made_anew(facts) if field == "admissionMode" else None
    return Fault(path, plain(wanted), found, move, remedy=remedy)


def made_anew(facts: Facts) -> Message:
    """The next move when the ClusterQueue was made without its mode: Kueue takes no later one."""
    return say(
        "Kueue takes admissionMode when a ClusterQueue is made: delete what runs in it and the "
        "ClusterQueue itself, then apply {file} anew; passes that you have stay on record",
        file=facts.tenant.file,
    )


def _judge_selector(content: Object, facts: Facts) -> Fault | None:
    """All namespaces, or just the tenant's own by its name."""
    selector = dig(content, "spec", "namespaceSelector")
    if isinstance(selector, Mapping) and _is_all_or(selector, facts.namespace):
        return None
    return judge_selector(content)


def _is_all_or(selector: Object, namespace: str) -> bool:
    """It goes by the names of namespaces only, and takes all of them or just this one."""
    expressions = dig_list(selector, "matchExpressions")
    keys = {*dig_map(selector, "matchLabels"), *(dig_text(one, "key") for one in expressions)}
    if not keys <= {_NAME_LABEL}:
        return False
    told = {str(value) for one in expressions for value in dig_list(one, "values")}
    names = {namespace, f"not-{namespace}", *told}
    taken = {name for name in names if matches(selector, {_NAME_LABEL: name})}
    return taken in ({namespace}, names)


def _judge_alone(content: Object) -> Fault | None:
    """A tenant is in no cohort: nothing is borrowed, and nothing lent."""
    value = dig(content, "spec", "cohortName")
    if value in (MISSING, None, ""):
        return None
    move = say("take it out: in a cohort others could lend quota, and preemption would be another")
    return Fault(("spec", "cohortName"), say("no cohort"), shown(value), move)


def _no_quantity(value: object) -> Message:
    try:
        parse_quantity(value)
    except BadQuantity as bad:
        return say("{value}: {why}", value=show(value), why=bad.why)
    return plain(f"weight: {show(value)}")


def _spell(path: Path) -> str:
    return ".".join(str(part) for part in path) or "-"
