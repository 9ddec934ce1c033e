"""The objects that the steps ask for, each to be looked for in its file and in the cluster."""

from __future__ import annotations

from checks.gpu_preemption.facts import BatchFacts, Facts, HighJobFacts, LowJobFacts, UrgentFacts
from checks.gpu_preemption.judge_tenant import judge_cluster_queue, judge_local_queue
from checks.gpu_preemption.judge_training import judge_training
from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show
from checks.kit.paths import MISSING, dig, places_of
from checks.kit.witness import Wanted
from checks.training import TRAIN_JOB
from provision.message import say

# Of a TrainJob, what decides how many pods there are and what they ask. Image, command and the
# like are the learner's own, and need not be what was applied; Kueue adds to the rest.
_DECIDING: tuple[Path, ...] = (
    ("spec", "runtimeRef"),
    ("spec", "trainer", "numNodes"),
    ("spec", "trainer", "resourcesPerNode"),
)


def want_cluster_queue(facts: Facts) -> Wanted:
    """The ClusterQueue of step 1."""
    return Wanted(
        kind=facts.cluster_queue_kind,
        name=facts.tenant.cluster_queue,
        file=facts.tenant.file,
        judge=lambda content: judge_cluster_queue(content, facts),
    )


def want_local_queue(facts: Facts) -> Wanted:
    """The LocalQueue of step 1."""
    return Wanted(
        kind=facts.local_queue_kind,
        name=facts.tenant.local_queue,
        file=facts.tenant.file,
        namespace=facts.namespace,
        judge=lambda content: judge_local_queue(content, facts),
    )


def want_class(facts: Facts, wanted: UrgentFacts | BatchFacts) -> Wanted:
    """A CustomWorkloadPriorityClass: that of step 2 or of step 3."""
    return Wanted(
        kind=facts.custom_class_kind,
        name=wanted.name,
        file=wanted.file if isinstance(wanted, UrgentFacts) else wanted.manifest,
        namespace=facts.namespace,
        judge=lambda content: judge_value(content, wanted.value),
    )


def want_training(facts: Facts, wanted: LowJobFacts | HighJobFacts) -> Wanted:
    """A TrainJob with a file of its own: that of step 4 or of step 5."""
    return Wanted(
        kind=TRAIN_JOB,
        name=wanted.name,
        file=wanted.manifest,
        namespace=facts.namespace,
        judge=lambda content: judge_training(content, facts, wanted),
        compared=_DECIDING,
        is_fixed=True,
    )


def judge_value(content: Object, value: int) -> Fault | None:
    """The class has that value, as a whole number."""
    path: Path = ("spec", "value")
    written = dig(content, *path)
    if written == value and isinstance(written, int):
        return None
    if written is MISSING:
        places = [place for place in places_of(content, "value") if place != path]
        found = say("no such field")
        if places:
            field = ".".join(str(part) for part in places[0][:-1]) or "-"
            found = say("no such field there, but a value in {field}", field=field)
    else:
        found = plain(show(written))
    move = say("write it as a number; see kubectl explain customworkloadpriorityclass.spec")
    return Fault(path, plain(value), found, move)
