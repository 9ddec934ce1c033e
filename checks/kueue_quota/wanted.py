"""The objects that the steps ask for, each to be looked for in its file and in the cluster."""

from __future__ import annotations

from checks.kit.cluster import JOB
from checks.kit.expect import Path
from checks.kit.witness import Wanted
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.judge_jobs import judge_queued_job
from checks.kueue_quota.judge_queues import (
    judge_cluster_queue,
    judge_flavor,
    judge_local_queue,
)

# Of a Job, what decides how many pods there are and where they may run. The rest of its file
# (image, command, cpu, retries) is the learner's own, and need not be what was applied.
_POD: Path = ("spec", "template", "spec")
_PLACED: tuple[Path, ...] = (
    ("spec", "parallelism"),
    ("spec", "completions"),
    *(
        (*_POD, field)
        for field in (
            *("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"),
            *("nodeName", "schedulerName", "priorityClassName", "runtimeClassName"),
        )
    ),
)


def want_flavor(facts: Facts) -> Wanted:
    """The ResourceFlavor of step 1."""
    return Wanted(
        kind=facts.flavor_kind,
        name=facts.flavor.name,
        file=facts.flavor.file,
        judge=lambda content: judge_flavor(content, facts),
    )


def want_cluster_queue(facts: Facts) -> Wanted:
    """The ClusterQueue of step 2."""
    return Wanted(
        kind=facts.cluster_queue_kind,
        name=facts.cluster_queue.name,
        file=facts.cluster_queue.file,
        judge=lambda content: judge_cluster_queue(content, facts),
    )


def want_local_queue(facts: Facts) -> Wanted:
    """The LocalQueue of step 3."""
    return Wanted(
        kind=facts.local_queue_kind,
        name=facts.local_queue.name,
        file=facts.local_queue.file,
        namespace=facts.namespace,
        judge=lambda content: judge_local_queue(content, facts),
    )


def want_first_job(facts: Facts) -> Wanted:
    """The Job of step 4."""
    return Wanted(
        kind=JOB,
        name=facts.first_job.name,
        file=facts.first_job.file,
        namespace=facts.namespace,
        judge=lambda content: judge_queued_job(content, facts, facts.first_job.gpus),
        compared=_PLACED,
        is_fixed=True,
    )
