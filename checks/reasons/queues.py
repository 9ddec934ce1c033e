"""The way from a Job to its ClusterQueue: queues that are absent, closed, or for others."""

from __future__ import annotations

from collections.abc import Mapping

from checks.kit.paths import MISSING, dig, dig_list, dig_map, dig_text
from checks.reasons.cause import Cause, Explanation
from checks.reasons.words import detail, names_of, pairs, there_is
from checks.scene import Scene
from checks.training import Submitted
from checks.watching import LocalQueueNow, QueueNow
from provision.message import Message, say


def explain_queues(scene: Scene, job: Submitted) -> Explanation | None:
    """What is off with the queues that the Job's label leads to; None when they are open to it."""
    local = scene.local_queue(job.queue)
    if local is None:
        return _no_local_queue(scene, job)
    queue = scene.cluster_queue(local.cluster_queue)
    if queue is None:
        what = say(
            "LocalQueue {queue} leads to ClusterQueue {name}, which does not exist",
            queue=local.name,
            name=local.cluster_queue,
        )
        names = [one.name for one in scene.cluster_queues()]
        move = say("delete the LocalQueue and make it again with a ClusterQueue that exists")
        found = Explanation(Cause.NO_QUEUE, what, move=move)
        return found.told(there_is(local.cluster_queue, names))
    return _closed(local, queue) or _inactive(scene, queue) or _not_selected(scene, job, queue)


def _no_local_queue(scene: Scene, job: Submitted) -> Explanation:
    what = say(
        "{kind} {job} names the LocalQueue {queue}, which does not exist in {namespace}",
        kind=job.kind,
        job=job.name,
        queue=job.queue,
        namespace=job.namespace,
    )
    everywhere = scene.local_queues()
    here = [one.name for one in everywhere if one.namespace == job.namespace]
    move = None if here else say("create that LocalQueue; what waits for it need not be made anew")
    found = Explanation(Cause.NO_QUEUE, what, move=move)
    if here:
        found = found.told(there_is(job.queue, here))
    elsewhere = [one.namespace for one in everywhere if one.name == job.queue]
    if elsewhere:
        note = say(
            "a LocalQueue {queue} is in {namespaces}; a Job uses those of its own namespace",
            queue=job.queue,
            namespaces=names_of(elsewhere),
        )
        found = found.told(detail("also", note))
    leading = [
        one.name
        for one in everywhere
        if one.namespace == job.namespace and one.cluster_queue == job.queue != one.name
    ]
    if leading:
        note = say(
            "{queue} is the ClusterQueue; the label takes the LocalQueue: {names}",
            queue=job.queue,
            names=names_of(leading),
        )
        found = found.told(detail("also", note))
    return found


def _closed(local: LocalQueueNow, queue: QueueNow) -> Explanation | None:
    for kind, holder in (("LocalQueue", local), ("ClusterQueue", queue)):
        if holder.stop_policy != "None":
            what = say(
                "{kind} {name} has stopPolicy: {policy} and admits nobody",
                kind=kind,
                name=holder.name,
                policy=holder.stop_policy,
            )
            return Explanation(Cause.STOPPED, what)
    return None


def _inactive(scene: Scene, queue: QueueNow) -> Explanation | None:
    active = queue.conditions.get("Active")
    if active is None or active.is_true or active.generation != queue.generation:
        return None
    what = say(
        "ClusterQueue {name} is not Active: {reason}: {message}",
        name=queue.name,
        reason=active.reason,
        message=active.message,
    )
    found = Explanation(Cause.INACTIVE, what)
    known = scene.flavor_names()
    missing = [name for name in queue.flavors if name not in known]
    if missing:
        note = say("there is no ResourceFlavor {name}", name=names_of(missing))
        move = say("create that ResourceFlavor, or name one that exists in the ClusterQueue")
        found = Explanation(Cause.INACTIVE, what, move=move)
        found = found.told(detail("missing", note), there_is(missing[0], known))
    return found


def _not_selected(scene: Scene, job: Submitted, queue: QueueNow) -> Explanation | None:
    selector = dig(queue.raw, "spec", "namespaceSelector")
    if selector in (MISSING, None):
        what = say(
            "ClusterQueue {name} has no namespaceSelector, so it takes Jobs of no namespace",
            name=queue.name,
        )
        move = say("set spec.namespaceSelector of the ClusterQueue: {empty} is all", empty="{}")
        return Explanation(Cause.SELECTOR, what, move=move)
    labels = scene.namespace_labels(job.namespace) if selector else None
    if labels is None or matches(selector, labels):
        return None
    what = say(
        "the namespaceSelector of ClusterQueue {name} does not match namespace {namespace}",
        name=queue.name,
        namespace=job.namespace,
    )
    wanted = pairs(dig_map(selector, "matchLabels").items())  # type: ignore[arg-type]
    found = Explanation(Cause.SELECTOR, what)
    return found.told(
        detail("asked", _spell(selector) if wanted == "-" else wanted),
        detail("label", pairs(labels.items())),
    )


def matches(selector: object, labels: Mapping[str, str]) -> bool:
    """Whether a label selector holds; an operator that is not known here counts as held."""
    for key, value in dig_map(selector, "matchLabels").items():
        if labels.get(key) != value:
            return False
    return all(holds(one, labels) for one in dig_list(selector, "matchExpressions"))


def holds(expression: object, labels: Mapping[str, str]) -> bool:
    """Whether one match expression holds for these labels."""
    key, operator = dig_text(expression, "key"), dig_text(expression, "operator")
    value = labels.get(key)
    if operator == "In":
        return value in dig_list(expression, "values")
    if operator == "NotIn":
        return value not in dig_list(expression, "values")
    if operator == "Exists":
        return value is not None
    return value is None if operator == "DoesNotExist" else True


def _spell(selector: object) -> Message:
    spelled = [
        f"{dig_text(one, 'key')} {dig_text(one, 'operator')} {dig_list(one, 'values')}"
        for one in dig_list(selector, "matchExpressions")
    ]
    return say("{conditions}", conditions=", ".join(spelled))
