"""Step 9: what the API server refused, and a Job whose class is gone.

The refusal is compared with the live ValidatingAdmissionPolicy: its message is made from literal
texts and the object's name, and ends with a word that was drawn for this place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.explain import Cause, explain
from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_pods import judge_job
from checks.history import newest
from checks.judging.ground import go_back, kueue_is_idle
from checks.judging.words import shares_enough
from checks.kit.cluster import Kind, Object
from checks.kit.expect import OnItsWay, cut, mismatch, plain, spell_path
from checks.kit.files import Files, TextFile
from checks.kit.manifests import place
from checks.kit.paths import dig_list, dig_text
from checks.kit.proof import seconds_of
from checks.outcome import CannotTell, Evidence, Finding, Mismatch
from checks.scene import Scene
from checks.watching import JobNow
from provision.message import say

POLICY = Kind(
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
    "admissionregistration.k8s.io/v1",
    is_namespaced=False,
)
POLICY_NAME = "trainjob-queue-is-kueue"
Credit = Mapping[int, Sequence[Evidence]]
WORD = "gpu-queue-lab/word"
SETTLED = 3.0  # seconds after which a Job would long have its Workload
_BRACKETS = re.compile(r"\[[^\[\]]+\]")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def require_policy(scene: Scene) -> Object:
    """The policy that refuses; CannotTell when the place has lost it."""
    live = scene.cluster.one(POLICY, POLICY_NAME)
    if live is None or not dig_text(live, "metadata", "annotations", WORD):
        raise CannotTell(
            say("there is no ValidatingAdmissionPolicy {name} with its word", name=POLICY_NAME),
            next_move=say("make provision brings it back"),
        )
    return live


def refusal_file(files: Files, lab: Facts) -> TextFile:
    """The file of the refusal; when it is not there or empty, how kubectl's words get into it."""
    try:
        return files.text(lab.refused.file)
    except Mismatch as error:
        if error.finding.found not in (say("the file is empty"), say("no such file")):
            raise
        raise Mismatch(replace(error.finding, next_move=_AGAIN)) from None


def require_refusal_noted(scene: Scene, lab: Facts, file: TextFile) -> None:
    """The file holds the message of this place's policy about that TrainJob."""
    policy = require_policy(scene)
    word = dig_text(policy, "metadata", "annotations", WORD)
    text = " ".join(file.text.replace('\\"', '"').split())
    where = place(file)
    expected = say("what the API server answered about {job}, whole", job=lab.refused.name)
    messages = _messages_of(policy, lab.refused.name)
    if not any(shares_enough(text, message) for message in messages):
        raise mismatch(where, expected, plain(cut(text, 100)), _AGAIN)
    if re.search(rf'"{re.escape(lab.refused.name)}"', text) is None:
        found = say("a refusal, but not about {job}", job=lab.refused.name)
        raise mismatch(where, expected, found, _AGAIN)
    if f"[{word}]" not in text:
        found = say("a refusal from elsewhere: its last word is not that of this place")
        if not _BRACKETS.search(text):
            found = say("its end, the word in brackets, is missing")
        raise mismatch(where, expected, found, _AGAIN)


def require_not_taken(scene: Scene, lab: Facts) -> None:
    """There is no TrainJob of the refused name."""
    job = scene.train_job(lab.refused.name)
    if job is None:
        return
    raise mismatch(
        say("TrainJobs in the namespace {namespace}", namespace=scene.namespace),
        say("no TrainJob {job}: it is to be refused", job=job.name),
        say("TrainJob {job}: without the forbidden key it is taken", job=job.name),
        say("delete it"),
    )


def require_class_gone(scene: Scene, lab: Facts, credit: Credit) -> None:
    """The tenant's class was READY once, and both objects of it are deleted.

    `credit`: what the passes of earlier steps rest on. CannotTell when that and the recorder are
    silent.
    """
    name = lab.urgent.name
    custom = scene.cluster.one(lab.custom_class_kind, name, lab.namespace)
    if custom is not None:
        finding = Finding(
            say("CustomWorkloadPriorityClass {name}", name=name),
            say("deleted"),
            say("it is still there"),
            say("delete it, not the WorkloadPriorityClass: the platform makes that one again"),
        )
        if dig_text(custom, "metadata", "deletionTimestamp"):
            raise OnItsWay(finding)
        raise mismatch(finding.looked_at, finding.expected, finding.found, finding.next_move)
    if scene.priority_class(name) is not None:
        finding = Finding(
            say("WorkloadPriorityClass {name}", name=name),
            say("gone with the CustomWorkloadPriorityClass"),
            say("it is still there"),
            say("wait a second and check again"),
        )
        raise OnItsWay(finding)
    if not _was_ready(scene, lab, credit):
        if not scene.history.changes:
            raise CannotTell(
                say("{name} is not there, and the recorder has written nothing", name=name),
                next_move=say("make {name} again, and have step 2 checked before", name=name),
            )
        finding = Finding(
            say("CustomWorkloadPriorityClass {name}", name=name),
            say("there and READY before it was deleted"),
            say("neither now nor on record"),
            say("make it, see it READY, then delete it"),
        )
        raise Mismatch(go_back(finding, 2))


def _was_ready(scene: Scene, lab: Facts, credit: Credit) -> bool:
    """The class was READY, as step 2 or the recorder saw it."""
    kind, name = lab.custom_class_kind.name, lab.urgent.name
    if any((one.kind, one.name) == (kind, name) for one in credit.get(2, ())):
        return True
    return any(change.is_true("Ready") for change in scene.history.of(kind, name=name))


def require_orphan(scene: Scene, lab: Facts) -> JobNow:
    """The Job is there, in the queue, and names the class that is gone."""
    wanted = lab.orphan
    job = scene.job(wanted.name)
    where = say("Jobs in the namespace {namespace}", namespace=scene.namespace)
    if job is None:
        raise mismatch(
            where,
            say("a Job {job}", job=wanted.name),
            say("no Job {job}", job=wanted.name),
            say("submit it, with the class {name} that you have deleted", name=lab.urgent.name),
        )
    labels = {lab.queue_label: lab.tenant.local_queue, lab.priority_label: lab.urgent.name}
    fault = judge_job(job.raw, lab, labels, wanted.gpus)
    if fault is not None:
        raise mismatch(
            say("Job {job}, {field}", job=job.name, field=spell_path(fault.path)),
            fault.expected,
            fault.found,
            say("{move}; delete the Job, correct it, submit it again", move=fault.next_move),
        )
    return job


def require_forgotten(scene: Scene, lab: Facts) -> JobNow:
    """Kueue keeps the Job suspended and has made no Workload for it, and it stays so."""
    job = require_orphan(scene, lab)
    workload = scene.workload_of(job)
    where = say("Job {job} and its Workload", job=job.name)
    expected = say("suspended, and no Workload at all")
    known = [workload.name] if workload is not None else _workloads_before(scene, job)
    if known:
        raise mismatch(
            where,
            expected,
            say(
                "Workload {workload}: the class was there when Kueue looked at the Job",
                workload=known[0],
            ),
            say("delete {job}, and submit it now that the class is gone", job=job.name),
        )
    why = explain(scene, job)
    if why.cause is not Cause.PRIORITY or not job.is_suspended:
        finding = Finding(where, expected, why.what, why.next_move)
        if why.is_coming:
            raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
        raise mismatch(finding.looked_at, finding.expected, finding.found, finding.next_move)
    if scene.cluster.now - seconds_of(job.created) < SETTLED:
        finding = Finding(where, expected, say("it has only just come"), say("check again"))
        raise OnItsWay(finding)
    return job


def _workloads_before(scene: Scene, job: JobNow) -> list[str]:
    """Workloads that the Job had, by the recorder: they were deleted by hand."""
    changes = scene.history.of("Workload", owner=job.name, owner_uid=job.uid)
    return [one.name for one in changes]


def class_was_deleted_at(scene: Scene, lab: Facts) -> str:
    """When the class went, as far as the recorder saw it; empty when it did not."""
    changes = scene.history.of(lab.custom_class_kind.name, name=lab.urgent.name)
    gone = [change for change in changes if change.is_gone]
    last = newest(gone, max((change.version for change in gone), default=0))
    return last.seen if last is not None else ""


def _messages_of(policy: Object, name: str) -> list[str]:
    """The messages that the policy can give, as far as they are literal texts."""
    found = []
    for rule in dig_list(policy, "spec", "validations"):
        literals = _LITERAL.findall(dig_text(rule, "messageExpression"))
        text = f'TrainJob "{name}"' + "".join(literals)
        found.append(" ".join(text.replace('\\"', '"').split()))
    return found


_AGAIN = say("submit it again, and keep what kubectl prints: kubectl apply -f FILE 2> the file")
