"""What a ResourceFlavor, a ClusterQueue and a LocalQueue of this lab must say.

Each function takes a manifest, from a file or from the cluster, and returns what is off in it.
Field rules are those of Kueue's v1beta2 types (apis/kueue/v1beta2) and of its webhooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, mismatch, plain, show
from checks.kit.paths import MISSING, dig, dig_list, dig_map, dig_texts, places_of
from checks.kit.quantities import BadQuantity, is_same_amount, parse_quantity
from checks.kueue_quota.facts import Facts
from checks.reasons.nodes import lacking_labels
from provision.message import Message, say

_GROUPS: Path = ("spec", "resourceGroups")


def judge_flavor(content: Object, facts: Facts) -> Fault | None:
    """The flavor names the nodes by the label that they carry."""
    flavor = facts.flavor
    path: Path = ("spec", "nodeLabels")
    wanted = plain(f'{flavor.label_key}: "{flavor.label_value}"')
    written, labels = dig(content, *path), dig_map(content, *path)
    if flavor.label_key in labels:
        value = labels[flavor.label_key]
        if value == flavor.label_value:
            return None
        is_unquoted = isinstance(value, bool | int | float)
        return Fault(
            (*path, flavor.label_key),
            wanted,
            say("{value}, which is no text", value=show(value)) if is_unquoted else _shown(value),
            say("a label's value is text: quote it in YAML")
            if is_unquoted
            else say("compare it with the labels of the node"),
        )
    elsewhere = [p for p in places_of(content, flavor.label_key) if p[:2] != path]
    if elsewhere and elsewhere[0][0] != "metadata" and len(elsewhere[0]) > 1:
        field = ".".join(str(part) for part in elsewhere[0][:-1])
        found = say("the label in {field}, a field that does not exist", field=field)
    elif elsewhere and "annotations" not in elsewhere[0]:
        found = say("the label in metadata.labels, which says nothing about nodes")
    else:
        found = _shown(written) if written else say("no such field, or nothing in it")
    return Fault(
        path, wanted, found, say("write the node's own label, prefix and all, in spec.nodeLabels")
    )


def require_a_node(live: Object, nodes: Sequence[Mapping[str, str]], facts: Facts) -> None:
    """Some GPU node carries all labels of the flavor; else no pod of it could ever be placed.

    `nodes` are the labels of each node. A Mismatch names the label that none of them has.
    """
    flavor = facts.flavor
    gpu_nodes = [n for n in nodes if n.get(flavor.label_key) == flavor.label_value]
    lacking = lacking_labels(dig_texts(live, "spec", "nodeLabels"), gpu_nodes) if gpu_nodes else {}
    for key, value in lacking.items():
        raise mismatch(
            say("spec.nodeLabels of ResourceFlavor {name} in the cluster", name=flavor.name),
            say("labels that a node with GPUs carries"),
            say("{label}, which none of them carries", label=f"{key}: {show(value)}"),
            say("take it out of {file}, and apply it", file=flavor.file),
        )


def judge_cluster_queue(content: Object, facts: Facts) -> Fault | None:
    """The ClusterQueue takes all namespaces and owns exactly the asked quota, in one flavor."""
    judges: tuple[Callable[[Object, Facts], Fault | None], ...] = (
        _judge_cohort,
        _judge_selector,
        _judge_stop,
        _judge_flavors,
        _judge_covered,
        _judge_quotas,
    )
    return next((fault for judge in judges if (fault := judge(content, facts))), None)


def judge_local_queue(content: Object, facts: Facts) -> Fault | None:
    """The LocalQueue leads to the ClusterQueue and is open."""
    path: Path = ("spec", "clusterQueue")
    wanted = facts.cluster_queue.name
    value = dig(content, *path)
    if value is MISSING:
        spec = dig_map(content, "spec")
        other = next((key for key in spec if key != "stopPolicy"), "")
        return Fault(
            ("spec", other) if other else path,
            say("spec.clusterQueue: {name}", name=wanted),
            say("no spec.clusterQueue, but {field}, which does not exist", field=other)
            if other
            else say("no spec.clusterQueue"),
            say("see kubectl explain localqueue.spec"),
        )
    if value != wanted:
        return Fault(
            path,
            plain(wanted),
            _shown(value),
            say("name the ClusterQueue of the step before"),
            is_fixed=True,
        )
    return _judge_stop(content, facts)


def _judge_cohort(content: Object, facts: Facts) -> Fault | None:
    if dig(content, "spec", "cohort") is MISSING:
        return None
    return Fault(
        ("spec", "cohort"),
        say("no such field: {version} calls it cohortName", version=facts.api_version),
        _shown(dig(content, "spec", "cohort")),
        say("the step needs no cohort; leave it out"),
    )


def _judge_selector(content: Object, facts: Facts) -> Fault | None:
    path: Path = ("spec", "namespaceSelector")
    value = dig(content, *path)
    if isinstance(value, Mapping) and not any(value.values()):
        return None
    if value is MISSING:
        found = say("no such field, which selects no namespace at all")
    elif value is None:
        found = say("null (nothing after the colon), which selects no namespace at all")
    else:
        found = _shown(value)
    return Fault(
        path,
        say("{empty}, which selects every namespace", empty="{}"),
        found,
        say("see kubectl explain clusterqueue.spec.namespaceSelector"),
    )


def _judge_stop(content: Object, facts: Facts) -> Fault | None:
    value = dig(content, "spec", "stopPolicy")
    if value in (MISSING, None, "None"):
        return None
    is_known = value in ("Hold", "HoldAndDrain")
    return Fault(
        ("spec", "stopPolicy"),
        say("None, or no such field"),
        _shown(value),
        say("a queue with this policy admits nobody: take it out")
        if is_known
        else say("the API knows no such policy and refuses it: take it out"),
    )


def _judge_flavors(content: Object, facts: Facts) -> Fault | None:
    name = facts.flavor.name
    seen = 0
    groups = dig_list(content, *_GROUPS)
    for g, group in enumerate(groups):
        for f, flavor in enumerate(dig_list(group, "flavors")):
            path: Path = (*_GROUPS, g, "flavors", f, "name")
            found = dig(flavor, "name")
            if found != name:
                move = say("each flavor brings quota of its own, and the step asks for one flavor")
                return Fault(path, plain(name), _shown(found), move)
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


def _judge_covered(content: Object, facts: Facts) -> Fault | None:
    path: Path = (*_GROUPS, 0, "coveredResources")
    covered = dig(content, *path)
    wanted = list(facts.cluster_queue.quota)
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


def _judge_quotas(content: Object, facts: Facts) -> Fault | None:
    path: Path = (*_GROUPS, 0, "flavors", 0, "resources")
    for index, item in enumerate(dig_list(content, *path)):
        name = str(dig(item, "name"))
        wanted = facts.cluster_queue.quota[name]
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
                    _shown(dig(item, limit)),
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
    return _shown(value)


def _shown(value: object) -> Message:
    return plain(value if isinstance(value, str) and value.isprintable() else show(value))
