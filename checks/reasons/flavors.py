"""Why a Job may not use a ResourceFlavor: its node labels, its taints, or that it is absent.

Kueue compares only those keys of a Job's selector and affinity that the flavor has as node labels
(pkg/scheduler/flavorassigner).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.kit.paths import dig, dig_list, dig_text, dig_texts
from checks.reasons.queues import holds
from checks.reasons.words import quoting
from checks.scene import Scene
from checks.training import Submitted
from provision.message import Message, say

_POD = ("spec", "template", "spec")


@dataclass(frozen=True, slots=True)
class FlavorObstacle:
    """What keeps a Job out of a flavor; `move` is what helps when the flavor itself is at fault."""

    what: Message
    move: Message | None = None


def flavor_obstacle(scene: Scene, job: Submitted, flavor: str, says: str) -> FlavorObstacle | None:
    """What keeps this Job out of this flavor, None when nothing does."""
    raw = scene.flavor(flavor)
    if raw is None:
        return FlavorObstacle(say("there is no ResourceFlavor {name}", name=flavor))
    if what := _other_labels(job, flavor, dig_texts(raw, "spec", "nodeLabels"), says):
        return FlavorObstacle(what)
    tolerations = dig_list(job.raw, *_POD, "tolerations") + dig_list(raw, "spec", "tolerations")
    for taint in dig_list(raw, "spec", "nodeTaints"):
        if bars(taint, tolerations):
            what = say(
                "flavor {flavor} has the taint {taint}, which the Job does not tolerate",
                flavor=flavor,
                taint=spell_taint(taint),
            )
            move = say(
                "take {taint} out of spec.nodeTaints of ResourceFlavor {flavor}, and apply it",
                taint=spell_taint(taint),
                flavor=flavor,
            )
            return FlavorObstacle(quoting(what, says), move)
    return None


def _other_labels(
    job: Submitted, flavor: str, labels: Mapping[str, str], says: str
) -> Message | None:
    for key, value in job.node_selector.items():
        if key in labels and labels[key] != value:
            what = say(
                "its nodeSelector wants {key}={value}, flavor {flavor} has {label}",
                key=key,
                value=value,
                flavor=flavor,
                label=labels[key],
            )
            return quoting(what, says)
    if not fits_affinity(dig(job.raw, *_POD), labels, known=set(labels)):
        what = say("its node affinity does not match the labels of flavor {flavor}", flavor=flavor)
        return quoting(what, says)
    return None


def fits_affinity(
    pod_spec: object, labels: Mapping[str, str], known: set[str] | None = None
) -> bool:
    """Whether required node affinity holds for these labels; with `known`, only those keys count.

    Terms are alternatives; expressions of one term must all hold.
    """
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = dig_list(pod_spec, *required, "nodeSelectorTerms")
    if not terms:
        return True
    return any(
        all(
            holds(one, labels)
            for one in dig_list(term, "matchExpressions")
            if known is None or dig_text(one, "key") in known
        )
        for term in terms
    )


def bars(taint: object, tolerations: list[object]) -> bool:
    """Whether a taint keeps pods with these tolerations from being placed."""
    if dig_text(taint, "effect") not in ("NoSchedule", "NoExecute"):
        return False
    return not any(_tolerates(one, taint) for one in tolerations)


def spell_taint(taint: object) -> str:
    """A taint as kubectl spells it."""
    value = dig_text(taint, "value")
    spelled = dig_text(taint, "key") + (f"={value}" if value else "")
    return f"{spelled}:{dig_text(taint, 'effect')}"


def _tolerates(toleration: object, taint: object) -> bool:
    effect, key = dig_text(toleration, "effect"), dig_text(toleration, "key")
    if effect and effect != dig_text(taint, "effect"):
        return False
    is_any = dig_text(toleration, "operator") == "Exists"
    if not key:
        return is_any
    if key != dig_text(taint, "key"):
        return False
    return is_any or dig_text(toleration, "value") == dig_text(taint, "value")
