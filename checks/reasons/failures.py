"""Why a container does not run or has ended, as the kubelet tells it in the status of its pod.

Words are the kubelet's own (kubelet/images, kuberuntime and lifecycle/predicate.go): on a node of
real containers an image may lack, memory run out, and a pod be refused after a restart of the node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checks.kit.expect import cut
from checks.kit.paths import dig, dig_list, dig_map, dig_text
from checks.watching import PodNow
from provision.message import Message, say

IMAGE = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "InvalidImageName",
        "ImageInspectError",
    }
)
START = frozenset(
    {"StartError", "ContainerCannotRun", "RunContainerError", "CreateContainerError"}
    | {"CreateContainerConfigError"}
)
OUT_OF_MEMORY = "OOMKilled"
NOT_BACK = "UnexpectedAdmissionError"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why, in one sentence, and what the learner can do."""

    what: Message
    move: Message


def why_failed(pod: PodNow) -> Failure | None:
    """Why a pod's containers do not run, or why they have ended badly; None for neither."""
    if pod.phase == "Failed" and (reason := dig_text(pod.raw, "status", "reason")):
        return _refused(pod, reason)
    for status in dig_list(pod.raw, "status", "containerStatuses"):
        for state in ("state", "lastState"):
            if dig_text(status, state, "terminated", "reason") == OUT_OF_MEMORY:
                return _out_of_memory(pod, status)
        reason = dig_text(status, "state", "waiting", "reason")
        if reason in IMAGE:
            return _no_image(pod, status, reason)
        ended = dig_map(status, "state", "terminated")
        if reason in START or dig_text(ended, "reason") in START:
            return _no_start(pod, status)
        code = dig(ended, "exitCode")
        if isinstance(code, int) and code != 0:
            what = say(
                "container {name} of {pod} ended with exit code {code}",
                name=dig_text(status, "name") or "-",
                pod=pod.name,
                code=code,
            )
            return Failure(what, _LOGS)
    return None


def why_any_failed(pods: Iterable[PodNow]) -> Failure | None:
    """Of several pods the newest failure."""
    ordered = sorted(pods, key=lambda pod: dig_text(pod.raw, "metadata", "creationTimestamp"))
    return next((found for pod in reversed(ordered) if (found := why_failed(pod))), None)


def _refused(pod: PodNow, reason: str) -> Failure:
    """The kubelet took or kept the pod no longer; its containers are not at fault."""
    if reason == NOT_BACK:
        what = say(
            "{pod} could not come back when {node} was started again: its GPU was not there yet "
            "({reason})",
            pod=pod.name,
            node=pod.node or "-",
            reason=reason,
        )
        return Failure(what, _ANEW)
    said = dig_text(pod.raw, "status", "message")
    what = say(
        "{node} ended {pod}: {reason}",
        node=pod.node or "-",
        pod=pod.name,
        reason=cut(f"{reason}: {said}" if said else reason),
    )
    return Failure(what, _ANEW)


def _out_of_memory(pod: PodNow, status: object) -> Failure:
    name = dig_text(status, "name")
    containers = dig_list(pod.raw, "spec", "containers")
    spec = next((one for one in containers if dig_text(one, "name") == name), {})
    what = say(
        "container {name} of {pod} took more memory than its limit {limit} and was ended "
        "(OOMKilled)",
        name=name or "-",
        pod=pod.name,
        limit=dig_text(spec, "resources", "limits", "memory") or "-",
    )
    return Failure(what, _MORE_MEMORY)


def _no_image(pod: PodNow, status: object, reason: str) -> Failure:
    what = say(
        "the image {image} of {pod} cannot be had ({reason})",
        image=cut(dig_text(status, "image") or "-"),
        pod=pod.name,
        reason=reason,
    )
    return Failure(what, _OTHER_IMAGE)


def _no_start(pod: PodNow, status: object) -> Failure:
    said = dig_text(status, "state", "terminated", "message") or dig_text(
        status, "state", "waiting", "message"
    )
    what = say(
        "container {name} of {pod} cannot be started: {reason}",
        name=dig_text(status, "name") or "-",
        pod=pod.name,
        # The runtime wraps what matters in what each of its layers says.
        reason=cut(said.rpartition("container process: ")[2] or said or "-"),
    )
    return Failure(what, _ANOTHER_COMMAND)


_ANEW = say("delete the Job and submit it again")
_LOGS = say("read its last words: kubectl logs; delete the Job, correct it, submit it")
_MORE_MEMORY = say("delete the Job, raise limits.memory, submit it")
_OTHER_IMAGE = say("delete the Job, correct the name and the tag of the image, submit it")
_ANOTHER_COMMAND = say("delete the Job, correct its command, submit it")
