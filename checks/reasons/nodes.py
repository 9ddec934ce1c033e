"""Why the scheduler cannot place a pod, node by node: cordoned, tainted, other labels, full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks.kit.cluster import Object
from checks.kit.paths import dig, dig_list, dig_map, dig_text, dig_texts
from checks.kit.quantities import show_amount, sum_amounts
from checks.reasons.amounts import Amounts, pod_amounts
from checks.reasons.cause import Cause, Detail
from checks.reasons.flavors import bars, fits_affinity, spell_taint
from checks.reasons.words import detail, names_of
from checks.scene import Scene
from provision.message import Message, say

_CORDON = "node.kubernetes.io/unschedulable"
_NONE = Fraction(0)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps one pod off one node; `subject` is the label, taint or resource it is about."""

    cause: Cause
    what: Message
    subject: str = ""


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node as a pod sees it: all that keeps the pod off it, and who holds what is short."""

    name: str
    obstacles: tuple[Obstacle, ...]
    holders: tuple[str, ...]

    @property
    def told(self) -> Detail:
        """The node and its obstacles in one line."""
        lines = [one.what for one in self.obstacles]
        text = lines[0] if lines else say("nothing that can be seen from here")
        for line in lines[1:]:
            text = say("{one}; {other}", one=text, other=line)
        return detail("node", say("{node}: {what}", node=self.name, what=text))


def view_nodes(scene: Scene, pod: Object) -> tuple[NodeView, ...]:
    """Every node, the one that keeps the pod off for the fewest reasons first."""
    spec = dig(pod, "spec")
    pods = [one for one in scene.all_pods() if _takes_room(one)]
    views = [_view(node, spec, pods) for node in scene.nodes()]
    return tuple(sorted(views, key=lambda view: (len(view.obstacles), view.name)))


def hardware(scene: Scene, resource: str) -> Fraction:
    """How much of a resource all nodes have together."""
    nodes = scene.nodes()
    return sum((_allocatable(node).get(resource, _NONE) for node in nodes), _NONE)


def lacking_labels(wanted: Mapping[str, str], nodes: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Those of the wanted labels that no node has; `nodes` are the labels of each node."""
    return {
        key: value
        for key, value in wanted.items()
        if not any(labels.get(key) == value for labels in nodes)
    }


def _view(node: Object, spec: object, pods: list[Object]) -> NodeView:
    name = dig_text(node, "metadata", "name")
    labels = dig_texts(node, "metadata", "labels")
    obstacles = [*_closed(node, spec), *_labelled_otherwise(spec, labels)]
    here = [pod for pod in pods if dig_text(pod, "spec", "nodeName") == name]
    short, holders = _short(node, pod_amounts(spec), here)
    return NodeView(name, (*obstacles, *short), tuple(holders))


def _closed(node: Object, spec: object) -> list[Obstacle]:
    found = []
    tolerations = dig_list(spec, "tolerations")
    if dig(node, "spec", "unschedulable") is True:
        found.append(Obstacle(Cause.CORDONED, say("it is cordoned")))
    for taint in dig_list(node, "spec", "taints"):
        if dig_text(taint, "key") != _CORDON and bars(taint, tolerations):
            spelled = spell_taint(taint)
            what = say("taint {taint}, not tolerated", taint=spelled)
            found.append(Obstacle(Cause.TAINT, what, spelled))
    return found


def _labelled_otherwise(spec: object, labels: Mapping[str, str]) -> list[Obstacle]:
    found = []
    for key, value in dig_texts(spec, "nodeSelector").items():
        if labels.get(key) == value:
            continue
        has = f"{key}={labels[key]}" if key in labels else "-"
        what = say("nodeSelector {wanted}, the node has {has}", wanted=f"{key}={value}", has=has)
        found.append(Obstacle(Cause.NODE_LABELS, what, key))
    if not fits_affinity(spec, labels):
        found.append(Obstacle(Cause.NODE_LABELS, say("its node affinity does not match the node")))
    return found


def _short(node: Object, asked: Amounts, here: list[Object]) -> tuple[list[Obstacle], list[str]]:
    found, holders = [], []
    total = _allocatable(node)
    for name, amount in asked.items():
        has = total.get(name, _NONE)
        taken = {dig_text(one, "metadata", "name"): _taken(one, name) for one in here}
        free = has - sum(taken.values(), _NONE)
        if amount <= free:
            continue
        what = say(
            "{free} of {total} {resource} free, {amount} asked",
            free=show_amount(max(free, _NONE)),
            total=show_amount(has),
            resource=name,
            amount=show_amount(amount),
        )
        cause = Cause.NODE_SMALL if amount > has else Cause.NODE_FULL
        found.append(Obstacle(cause, what, name))
        holders.append(names_of(pod for pod, held in taken.items() if held))
    return found, holders


def _taken(pod: Object, resource: str) -> Fraction:
    return pod_amounts(dig(pod, "spec")).get(resource, _NONE)


def _allocatable(node: Object) -> Amounts:
    return sum_amounts([dig_map(node, "status", "allocatable")])


def _takes_room(pod: Object) -> bool:
    return dig_text(pod, "status", "phase") not in ("Succeeded", "Failed")
