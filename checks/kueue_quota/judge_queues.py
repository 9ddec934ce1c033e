"""What a ResourceFlavor, a ClusterQueue and a LocalQueue of this lab must say.

Each function takes a manifest, from a file or from the cluster, and returns what is off in it.
Field rules are those of Kueue's v1beta2 types (apis/kueue/v1beta2) and of its webhooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checks.judging.queues import (
    judge_cohort,
    judge_resources,
    judge_selector,
    judge_stop,
    judge_target,
    shown,
)
from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, mismatch, plain, show
from checks.kit.paths import dig, dig_map, dig_texts, places_of
from checks.kueue_quota.facts import Facts
from checks.reasons.nodes import lacking_labels
from provision.message import say


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
            say("{value}, which is no text", value=show(value)) if is_unquoted else shown(value),
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
        found = shown(written) if written else say("no such field, or nothing in it")
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
    return (
        judge_cohort(content, facts.api_version)
        or judge_selector(content)
        or judge_stop(content)
        or judge_resources(content, facts.flavor.name, facts.cluster_queue.quota)
    )


def judge_local_queue(content: Object, facts: Facts) -> Fault | None:
    """The LocalQueue leads to the ClusterQueue and is open."""
    return judge_target(content, facts.cluster_queue.name) or judge_stop(content)
