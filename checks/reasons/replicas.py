"""How a Deployment is: pods that Kueue lets in one by one, and the first that does not run."""

from __future__ import annotations

from collections.abc import Callable

from checks.asking import PodAsking, read_pod_asking
from checks.reasons.cause import Cause, Explanation
from checks.reasons.words import detail, names_of
from checks.scene import Scene
from checks.serving import DeploymentNow
from provision.message import say

Explain = Callable[[Scene, PodAsking], Explanation]


def explain_deployment(scene: Scene, deployment: DeploymentNow, explain: Explain) -> Explanation:
    """Why not all pods of a Deployment run; `explain` tells of one pod."""
    pods = [one for one in scene.pods_of(deployment) if not one.is_deleting and not one.has_ended]
    running = [one for one in pods if one.phase == "Running" and not one.trouble]
    gated = [one for one in pods if one.gates]
    count = detail(
        "replicas",
        say("{count} of {replicas} run", count=len(running), replicas=deployment.replicas),
    )
    waiting = sorted(
        (one for one in pods if one not in running), key=lambda one: (not one.gates, one.name)
    )
    if not waiting:
        if len(running) < deployment.replicas or not running:
            what = say("Deployment {name} has no other pods yet", name=deployment.name)
            is_coming = len(running) < deployment.replicas
            return Explanation(Cause.NO_PODS, what, is_coming=is_coming).told(count)
        what = say("Deployment {name} runs: all its pods do", name=deployment.name)
        return Explanation(Cause.RUNNING, what).told(count)
    found = explain(scene, read_pod_asking(waiting[0].raw)).told(count)
    if not gated:
        return found
    held = say(
        "{pods} wait for Kueue, each a Workload of its own",
        pods=names_of(one.name for one in gated),
    )
    return found.told(detail("replicas", held))
