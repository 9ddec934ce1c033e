"""What the cluster of a place answers: versions, time, and whether Kueue's webhooks work.

Webhooks are asked by server-side dry-run: the API server sends the object through all of them and
then writes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import urllib3

from provision.health import Diagnosis, bad, good, note
from provision.local.api import FIELD_MANAGER, make_pool, root_cause
from provision.local.looking import describe
from provision.local.place import Place
from provision.local.plan import Probe
from provision.message import Message, say
from provision.state import PlaceState

CLOCK_SECONDS = 5.0
TIMEOUT = urllib3.Timeout(connect=2.0, read=12.0)
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
TRAINER = "trainer"
TRAININGS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{namespace}/trainjobs"
LOOK = say("see make status, then make provision")
KUEUE = say("see make logs NAME=kueue; make provision brings it back")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API server; `trouble` says why there is none."""

    status: int
    body: Mapping[str, Any]
    date: str
    seconds: float
    trouble: Message | None = None

    @property
    def message(self) -> str:
        """What the API server says about a refusal, on one line and not too long."""
        return " ".join(str(self.body.get("message", "")).split())[:300] or f"HTTP {self.status}"


def examine_cluster(place: Place, state: PlaceState, probe: Probe) -> Iterator[Diagnosis]:
    """All that is asked of an API server that is ready; `probe` shows the admin's certificate."""
    with make_pool(probe) as pool:
        base = probe.url.removesuffix("/readyz")
        version = _ask(pool, "GET", f"{base}/version")
        yield from _judge_version(place, state, version)
        yield _judge_clock(version)
        jobs = f"{base}/apis/batch/v1/namespaces/{place.spec.namespaces[0]}/jobs"
        url = f"{jobs}?dryRun=All&fieldManager={FIELD_MANAGER}"
        taken = _ask(pool, "POST", url, job_for_dry_run("lab-doctor"))
        # Asked only of a webhook that answers: one that hangs costs its whole time limit.
        is_worth_it = taken.status == 201
        refused = _ask(pool, "POST", url, job_for_dry_run("No_Queue")) if is_worth_it else taken
        yield _judge_webhooks(taken, refused)
        if TRAINER in place.names():
            trainings = f"{base}{TRAININGS.format(namespace=place.spec.namespaces[0])}"
            asked = f"{trainings}?dryRun=All&fieldManager={FIELD_MANAGER}"
            yield _judge_training(_ask(pool, "POST", asked, training_for_dry_run("lab-doctor")))


def job_for_dry_run(queue: str) -> Mapping[str, Any]:
    """A Job that Kueue's webhooks have something to say about: they suspend it on its way in."""
    container = {"name": "main", "image": "none"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "lab-doctor-", "labels": {QUEUE_LABEL: queue}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def training_for_dry_run(queue: str) -> Mapping[str, Any]:
    """A TrainJob that Trainer's webhooks look at, and that Kueue's suspends on its way in."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"generateName": "lab-doctor-", "labels": {QUEUE_LABEL: queue}},
        "spec": {"runtimeRef": {"name": "torch-distributed"}},
    }


def _judge_version(place: Place, state: PlaceState, answer: Answer) -> Iterator[Diagnosis]:
    if answer.status != 200:
        yield bad("versions", answer.trouble or say("{why}", why=answer.message), LOOK)
        return
    info = describe(place, state)
    running, built = str(answer.body.get("gitVersion", "")), info.versions["kubernetes"]
    if running != built:
        yield bad(
            "versions",
            say("the API server is {running}, but {built} was built", running=running, built=built),
            say("make down, then make provision"),
        )
        return
    what = ", ".join(f"{name} {version}" for name, version in info.versions.items())
    yield good("versions", say("versions: {what}", what=what))
    if info.note is not None:
        yield note("versions.kueue", info.note)


def _judge_clock(answer: Answer) -> Diagnosis:
    if not answer.date:
        return bad("clock", answer.trouble or say("the API server tells no time"), LOOK)
    # The header has whole seconds and is as old as the answer took.
    off = abs(time.time() - parsedate_to_datetime(answer.date).timestamp())
    if off > CLOCK_SECONDS + answer.seconds:
        return bad(
            "clock",
            say("this machine's clock and that of the API server are {off} s apart", off=int(off)),
            say("set the clocks by a time server; verdicts compare times"),
        )
    return good("clock", say("this machine's clock and that of the API server agree"))


def _judge_webhooks(taken: Answer, refused: Answer) -> Diagnosis:
    """The first Job must come back suspended, the second one, of an impossible queue, refused."""
    seconds = taken.seconds + refused.seconds
    spec = taken.body.get("spec")
    if taken.status != 201:
        what = say("a Job in dry-run was not taken: {why}", why=taken.trouble or taken.message)
        return bad("webhooks", what, KUEUE, seconds=seconds)
    if not isinstance(spec, dict) or spec.get("suspend") is not True:
        what = say("a Job in dry-run came back as it was: Kueue's webhook did not see it")
        return bad("webhooks", what, KUEUE, seconds=seconds)
    if refused.status in (200, 201):
        what = say("a Job with an impossible queue was taken in dry-run")
        return bad("webhooks", what, KUEUE, seconds=seconds)
    return good(
        "webhooks",
        say("Kueue's webhooks answer a dry-run in {ms} ms", ms=round(1000 * taken.seconds)),
        seconds=seconds,
    )


def _judge_training(taken: Answer) -> Diagnosis:
    spec, name = taken.body.get("spec"), f"webhooks.{TRAINER}"
    if taken.status != 201:
        what = say("a TrainJob in dry-run was not taken: {why}", why=taken.trouble or taken.message)
        mend = say("see make logs NAME=trainer; make provision brings it back")
        return bad(name, what, mend, seconds=taken.seconds)
    if not isinstance(spec, dict) or spec.get("suspend") is not True:
        what = say("a TrainJob in dry-run came back as it was: Kueue's webhook did not see it")
        return bad(name, what, KUEUE, seconds=taken.seconds)
    return good(
        name,
        say(
            "the webhooks of TrainJobs answer a dry-run in {ms} ms", ms=round(1000 * taken.seconds)
        ),
        seconds=taken.seconds,
    )


def _ask(
    pool: urllib3.PoolManager, method: str, url: str, body: Mapping[str, Any] | None = None
) -> Answer:
    began = time.monotonic()
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    sent = None if body is None else json.dumps(body).encode()
    try:
        reply = pool.request(method, url, body=sent, headers=headers, timeout=TIMEOUT)
        content = json.loads(reply.data)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        trouble = say("the API server does not answer: {reason}", reason=root_cause(error))
        return Answer(0, {}, "", time.monotonic() - began, trouble)
    except ValueError:
        content = {}
    shape = content if isinstance(content, dict) else {}
    return Answer(reply.status, shape, reply.headers.get("Date", ""), time.monotonic() - began)
