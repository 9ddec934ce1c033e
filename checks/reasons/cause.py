"""The causes there are, and one that was found: a sentence, details and the next move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from provision.message import Message, say


class Cause(StrEnum):
    """The first thing that stands between a Job and its running, in the order of the way."""

    ENDED = "ended"
    LEAVING = "leaving"
    ORPHAN = "orphan"
    UNQUEUED = "unqueued"
    NO_QUEUE = "no-queue"
    STOPPED = "stopped"
    INACTIVE = "inactive"
    SELECTOR = "namespace-selector"
    PRIORITY = "no-priority-class"
    NO_WORKLOAD = "no-workload"
    DEACTIVATED = "deactivated"
    NOT_COVERED = "not-covered"
    LIMITS = "limit-range"
    NO_FLAVOR = "no-flavor"
    NEVER_FITS = "never-fits"
    QUOTA = "quota"
    REFUSED = "refused"
    HEAD = "behind-the-head"
    CHECKS = "admission-checks"
    TURN = "turn"
    ADMITTED = "admitted"
    SUSPENDED = "suspended"
    NO_PODS = "no-pods"
    CORDONED = "node-cordoned"
    TAINT = "node-taint"
    NODE_LABELS = "node-labels"
    NODE_FULL = "node-full"
    NODE_SMALL = "node-too-small"
    UNPLACED = "unplaced"
    STARTING = "starting"
    NO_IMAGE = "no-image"
    CRASHING = "crashing"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Detail:
    """One more fact: `key` is for programs and stays; `label` and `text` are for people."""

    key: str
    label: Message
    text: Message


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why, in one sentence. `is_coming`: a controller owes the next move, made within seconds."""

    cause: Cause
    what: Message
    is_coming: bool = False
    details: tuple[Detail, ...] = ()
    move: Message | None = None

    @property
    def next_move(self) -> Message:
        """What the learner can do about it."""
        return self.move or _MOVES.get(self.cause, _READ_IT)

    def told(self, *details: Detail | None) -> Explanation:
        """The same with more details; None is left out."""
        return replace(self, details=(*self.details, *(d for d in details if d is not None)))


_READ_IT = say("read the conditions of its Workload")
_ANEW = say("a Job's template cannot be changed: delete the Job, correct it, submit it")
_LOOK_AT_POD = say("look at the pod: kubectl describe pod")
_MOVES = {
    Cause.ENDED: say("delete it and submit it with a command that keeps running"),
    Cause.LEAVING: say("wait until it is gone; submit it again if it is still needed"),
    Cause.ORPHAN: say("delete this Workload and the pods that are left, then submit the Job"),
    Cause.UNQUEUED: say("delete it and submit it with the queue label"),
    Cause.NO_QUEUE: say("delete it and submit it with the name of the LocalQueue"),
    Cause.STOPPED: say("open the queue again"),
    Cause.INACTIVE: say("read the conditions of the ClusterQueue"),
    Cause.SELECTOR: say("make the namespaceSelector of the ClusterQueue match this namespace"),
    Cause.PRIORITY: say(
        "create that class (a WorkloadPriorityClass, or what the platform makes one from), or "
        "submit the Job with one there is"
    ),
    Cause.NO_WORKLOAD: say("look again; if it stays so, see make status"),
    Cause.DEACTIVATED: say("set spec.active of the Workload back to true"),
    Cause.NOT_COVERED: say("ask only what the ClusterQueue covers"),
    Cause.LIMITS: say("delete it and submit it within the LimitRange"),
    Cause.NO_FLAVOR: say("delete it and submit it with a nodeSelector that the flavor allows"),
    Cause.NEVER_FITS: say("delete it and submit it with less"),
    Cause.QUOTA: say("see who holds the quota: kubectl get workloads.kueue.x-k8s.io -A"),
    Cause.REFUSED: say("read the message, and correct what it names"),
    Cause.HEAD: say("let the one in front go first, or set queueingStrategy to BestEffortFIFO"),
    Cause.CHECKS: say("see what the AdmissionCheck waits for"),
    Cause.TURN: say("look again; if it stays so, see make status"),
    Cause.ADMITTED: say("look at its pods"),
    Cause.SUSPENDED: say("nobody resumes it: submit it without spec.suspend"),
    Cause.NO_PODS: say("read the events of the Job: kubectl describe job"),
    Cause.CORDONED: say("open the node again: kubectl uncordon"),
    Cause.TAINT: _ANEW,
    Cause.NODE_LABELS: _ANEW,
    Cause.NODE_FULL: say("delete what holds the resource, or wait until it ends"),
    Cause.NODE_SMALL: _ANEW,
    Cause.UNPLACED: _LOOK_AT_POD,
    Cause.STARTING: say("look again in a moment"),
    Cause.NO_IMAGE: _LOOK_AT_POD,
    Cause.CRASHING: _LOOK_AT_POD,
    Cause.RUNNING: say("nothing: it does not wait"),
}
