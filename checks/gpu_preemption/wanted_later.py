"""The objects of steps 8 and 10 that have a file, each looked for there and in the cluster."""

from __future__ import annotations

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_pods import judge_service
from checks.gpu_preemption.judge_tenant import judge_weight
from checks.judging.queues import judge_stop, judge_target
from checks.kit.cluster import Object
from checks.kit.expect import Fault
from checks.kit.witness import Wanted
from checks.serving import DEPLOYMENT


def want_service(facts: Facts) -> Wanted:
    """The Deployment of step 8. What runs in its containers is the learner's own."""
    return Wanted(
        kind=DEPLOYMENT,
        name=facts.service.name,
        file=facts.service.manifest,
        namespace=facts.namespace,
        judge=lambda content: judge_service(content, facts),
        compared=(("spec", "replicas"), ("spec", "template", "spec", "nodeSelector")),
    )


def want_research(facts: Facts) -> Wanted:
    """The second LocalQueue, of step 10."""
    return Wanted(
        kind=facts.local_queue_kind,
        name=facts.research.name,
        file=facts.research.manifest,
        namespace=facts.namespace,
        judge=lambda content: _judge_research(content, facts),
    )


def _judge_research(content: Object, facts: Facts) -> Fault | None:
    return (
        judge_target(content, facts.tenant.cluster_queue)
        or judge_stop(content)
        or judge_weight(content, facts.research.weight)
    )
