"""What a ClusterQueue and a LocalQueue must say, whatever the lab: where it leads, what it owns.

Each function takes a manifest, from a file or from the cluster, and returns what is off in it.
Field rules are those of Kueue's v1beta2 types (apis/kueue/v1beta2) and of its webhooks.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show
from checks.kit.paths import MISSING, dig, dig_list, dig_map
from checks.kit.quantities import BadQuantity, is_same_amount, parse_quantity
from provision.message import Message, say

_GROUPS: Path = ("spec", "resourceGroups")


def judge_resources(content: Object, flavor: str, quota: Mapping[str, str]) -> Fault | None:
    """The ClusterQueue owns exactly this quota, by resource, in one flavor."""
    return (
        _judge_flavors(content, flavor)
        or _judge_covered(content, quota)
        or _judge_quotas(content, quota)
    )


def judge_target(content: Object, cluster_queue: str) -> Fault | None:
    """The LocalQueue leads to that ClusterQueue."""
    path: Path = ("spec", "clusterQueue")
    value = dig(content, *path)
    if value is MISSING:
        spec = dig_map(content, "spec")
        other = next((key for key in spec if key not in ("stopPolicy", "fairSharing")), "")
        return Fault(
            ("spec", other) if other else path,
            say("spec.clusterQueue: {name}", name=cluster_queue),
            say("no spec.clusterQueue, but {field}, which does not exist", field=other)
            if other
            else say("no spec.clusterQueue"),
            say("see kubectl explain localqueue.spec"),
        )
    if value != cluster_queue:
        return Fault(
            path,
            plain(cluster_queue),
            shown(value),
            say("name the ClusterQueue of the step before"),
            is_fixed=True,
        )
    return None


def judge_cohort(content: Object, version: str) -> Fault | None:
    """The ClusterQueue has no field of an older version for its cohort."""
    if dig(content, "spec", "cohort") is MISSING:
        return None
    return Fault(
        ("spec", "cohort"),
        say("no such field: {version} calls it cohortName", version=version),
        shown(dig(content, "spec", "cohort")),
        say("the step needs no cohort; leave it out"),
    )


def judge_selector(content: Object) -> Fault | None:
    """The ClusterQueue takes all namespaces."""
    path: Path = ("spec", "namespaceSelector")
    value = dig(content, *path)
    if isinstance(value, Mapping) and not any(value.values()):
        return None
    if value is MISSING:
        found = say("no such field, which selects no namespace at all")
    elif value is None:
        found = say("null (nothing after the colon), which selects no namespace at all")
    else:
        found = shown(value)
    return Fault(
        path,
        say("{empty}, which selects every namespace", empty="{}"),
        found,
        say("see kubectl explain clusterqueue.spec.namespaceSelector"),
    )


def judge_stop(content: Object) -> Fault | None:
    """The queue is open."""
    value = dig(content, "spec", "stopPolicy")
    if value in (MISSING, None, "None"):
        return None
    is_known = value in ("Hold", "HoldAndDrain")
    return Fault(
        ("spec", "stopPolicy"),
        say("None, or no such field"),
        shown(value),
        say("a queue with this policy admits nobody: take it out")
        if is_known
        else say("the API knows no such policy and refuses it: take it out"),
    )


def _judge_flavors(content: Object, name: str) -> Fault | None:
    seen = 0
    groups = dig_list(content, *_GROUPS)
    for g, group in enumerate(groups):
        for f, flavor in enumerate(dig_list(group, "flavors")):
            path: Path = (*_GROUPS, g, "flavors", f, "name")
            found = dig(flavor, "name")
            if found != name:
                move = say("each flavor brings quota of its own, and the step asks for one flavor")
                return Fault(path, plain(name), shown(found), move)
            if seen:
                return Fault(
                    path,
                    say("each flavor in one group only"),
                    say("{name} again", name=name),
                    say("put all resources into one group of resourceGroups"),
                )
            seen += 1
    if seen:
        return None
    return Fault(
        (*_GROUPS, 0, "flavors") if groups else _GROUPS,
        say("one group with the flavor {name}", name=name),
        say("no flavor") if groups else _no_list(dig(content, *_GROUPS)),
        say("see kubectl explain clusterqueue.spec.resourceGroups"),
    )


def _judge_covered(content: Object, quota: Mapping[str, str]) -> Fault | None:
    path: Path = (*_GROUPS, 0, "coveredResources")
    covered = dig(content, *path)
    wanted = list(quota)
    names = [str(name) for name in covered] if isinstance(covered, list) else []
    if sorted(names) != sorted(wanted):
        return Fault(
            path,
            say("{names}, in any order", names=", ".join(wanted)),
            plain(", ".join(names)) if names else _no_list(covered),
            say("list exactly these resources, here and in the flavor"),
        )
    resources = dig_list(content, *_GROUPS, 0, "flavors", 0, "resources")
    listed = [str(dig(item, "name")) for item in resources]
    if listed == names:
        return None
    return Fault(
        (*_GROUPS, 0, "flavors", 0, "resources"),
        say("the names in the order of coveredResources: {names}", names=", ".join(names)),
        plain(", ".join(listed)) if listed else say("no resources"),
        say("the API refuses a flavor that lists them in another order, or not all of them"),
    )


def _judge_quotas(content: Object, quota: Mapping[str, str]) -> Fault | None:
    path: Path = (*_GROUPS, 0, "flavors", 0, "resources")
    for index, item in enumerate(dig_list(content, *path)):
        name = str(dig(item, "name"))
        wanted = quota[name]
        value = dig(item, "nominalQuota")
        field: Path = (*path, index, "nominalQuota")
        if value is MISSING or not is_same_amount(value, wanted):
            return Fault(
                field,
                say("{resource}: {amount}", resource=name, amount=wanted),
                say("{resource}: {found}", resource=name, found=_quota_found(value)),
                say("set the nominal quota of {resource}", resource=name),
            )
        for limit in ("borrowingLimit", "lendingLimit"):
            if dig(item, limit) not in (MISSING, None) and not dig(content, "spec", "cohortName"):
                return Fault(
                    (*path, index, limit),
                    say("no {field}: this queue is in no cohort", field=limit),
                    shown(dig(item, limit)),
                    say("the API refuses it without a cohort; take it out"),
                )
    return None


def _no_list(value: object) -> Message:
    return say("{value}, not a list", value=show(value)) if value else say("no such list")


def _quota_found(value: object) -> Message:
    if value is MISSING:
        return say("no nominalQuota")
    try:
        parse_quantity(value)
    except BadQuantity as bad:
        return say("{value}: {why}", value=show(value), why=bad.why)
    return shown(value)


def shown(value: object) -> Message:
    """A value as people write it: text without quotes, all else as JSON."""
    return plain(value if isinstance(value, str) and value.isprintable() else show(value))
