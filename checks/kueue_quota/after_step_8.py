"""What step 8 ends on purpose, so that earlier steps can say so."""

from __future__ import annotations

from checks.explain import Cause, explain
from checks.kit.expect import mismatch
from checks.kueue_quota.facts import Facts
from checks.outcome import Mismatch
from checks.scene import Scene
from provision.message import say


def is_after_step_8(scene: Scene, lab: Facts) -> bool:
    """The first Job is gone, and the Job that waited is admitted or about to be."""
    if scene.job(lab.first_job.name) is not None:
        return False
    job = scene.job(lab.waiting_job.name)
    if job is None:
        return False
    why = explain(scene, job)
    return why.cause is Cause.ADMITTED or why.is_coming


def refuse_after_step_8(scene: Scene, lab: Facts) -> None:
    """A Mismatch that names step 8, when its work is what makes this step untrue."""
    if is_after_step_8(scene, lab):
        raise gone_since_step_8(lab)


def gone_since_step_8(lab: Facts) -> Mismatch:
    """The Mismatch for a state that step 8 ended."""
    return mismatch(
        say("Jobs in the namespace {namespace}", namespace=lab.namespace),
        say("a Job {job}, admitted", job=lab.first_job.name),
        say(
            "no Job {first}, so {waiting} is let in: that is how step 8 leaves it",
            first=lab.first_job.name,
            waiting=lab.waiting_job.name,
        ),
        say("make reset brings the start back, to play this step again"),
    )
