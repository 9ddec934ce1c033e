"""Asked about a name: which Job, pod or Workload that is, and why it does not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from checks.explain import Explanation, explain_fully
from checks.kit.cluster import JOB, POD, Cluster
from checks.kit.paths import dig_list, dig_text
from checks.makers import Maker, beyond_jobs, kind_of, maker_of
from checks.reasons.cause import Cause, Detail
from checks.reasons.pods import explain_pod
from checks.reasons.words import detail, near_names
from checks.scene import Scene
from checks.things import Thing
from checks.watching import JobNow, PodNow, WorkloadNow, read_job, read_pod
from provision.message import say

_KINDS = {
    "Job": ("job", "jobs", "job.batch", "jobs.batch"),
    "Pod": ("pod", "pods", "po"),
    "Workload": ("workload", "workloads", "kwl", "workload.kueue.x-k8s.io"),
    "TrainJob": ("trainjob", "trainjobs", "trainjob.trainer.kubeflow.org"),
    "Deployment": ("deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"),
    "JobSet": ("jobset", "jobsets", "jobset.jobset.x-k8s.io"),
}


# Of these, what makes Jobs or pods.
MAKER_KINDS = tuple(kind for kind in _KINDS if kind not in ("Job", "Pod", "Workload"))


class NotThere(Exception):
    """Nothing has that name; `near` are names that may have been meant."""

    def __init__(self, name: str, namespaces: tuple[str, ...], near: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.namespaces = namespaces
        self.near = near


@dataclass(frozen=True, slots=True)
class Answer:
    """What the name meant (`kind`, `namespace`, `name`), its Job if it has one, and why.

    `job` is what was submitted, of the kind `job_kind`: a Job, TrainJob, JobSet, Deployment or pod.
    """

    kind: str
    namespace: str
    name: str
    job: str
    way: tuple[str, ...]
    why: Explanation
    requests: int
    job_kind: str = "Job"


def inquire(
    kubeconfig: Path, asked: str, *, namespaces: Sequence[str], api_version: str, only: bool
) -> Answer:
    """Why the Job, pod or Workload of that name does not run.

    `asked` may carry a kind (`pod/x`). Namespaces are looked at in their order, then, unless
    `only`, all others. Raises NotThere, and CannotTell when the API server does not answer.
    """
    return inquire_of(Cluster(kubeconfig), asked, namespaces, api_version, only=only)


def inquire_of(
    cluster: Cluster, asked: str, namespaces: Sequence[str], api_version: str, *, only: bool
) -> Answer:
    """The same, asked of a cluster that is at hand."""
    kind, name = _split(asked)
    scene = Scene(cluster, namespaces[0], api_version)
    cluster.require_served(scene.queue_kind)
    found = _find(scene, kind, name)
    ordered = sorted(found, key=lambda one: _rank(one.namespace, namespaces))
    if only:
        ordered = [one for one in ordered if one.namespace in namespaces]
    if not ordered:
        raise NotThere(asked, tuple(namespaces), near_names(name, _names(scene, namespaces)))
    thing = ordered[0]
    scene = Scene(cluster, thing.namespace, api_version)
    job = maker_of(scene, thing)
    why = explain_fully(scene, job) if job else _without_job(scene, thing)
    way = _way(scene, job) if job else ()
    whose = (job.name, way) if job else ("", way)
    made_by = kind_of(job) if job else "Job"
    what = kind_of(thing), thing.namespace, thing.name
    return Answer(*what, *whose, why, cluster.requests, made_by)


def _split(asked: str) -> tuple[str, str]:
    prefix, slash, name = asked.strip().partition("/")
    if not slash:
        return "", prefix
    kind = next((kind for kind, words in _KINDS.items() if prefix.lower() in words), "")
    return (kind, name) if kind else ("", asked)


def _find(scene: Scene, kind: str, name: str) -> list[Thing]:
    """Things of that name, Jobs before pods before Workloads; then what makes Jobs or pods."""
    if kind in ("", "Job") and (jobs := [job for job in _jobs(scene) if job.name == name]):
        return list(jobs)
    if kind in ("", "Pod") and (pods := [pod for pod in _pods(scene) if pod.name == name]):
        return list(pods)
    works = scene.workloads() if kind in ("", "Workload") else ()
    if named := [one for one in works if one.name == name]:
        return list(named)
    is_beyond = kind not in ("Job", "Pod", "Workload")
    return [one for one in beyond_jobs(scene, kind) if one.name == name] if is_beyond else []


def _rank(namespace: str, namespaces: Sequence[str]) -> int:
    return namespaces.index(namespace) if namespace in namespaces else len(namespaces)


def _jobs(scene: Scene) -> list[JobNow]:
    return [read_job(raw) for raw in scene.cluster.all(JOB)]


def _pods(scene: Scene) -> list[PodNow]:
    return [read_pod(raw) for raw in scene.cluster.all(POD)]


def _names(scene: Scene, namespaces: Iterable[str]) -> set[str]:
    things: list[Thing] = [*_jobs(scene), *_pods(scene), *scene.workloads(), *beyond_jobs(scene)]
    return {one.name for one in things if one.namespace in namespaces}


def _without_job(scene: Scene, thing: Thing) -> Explanation:
    if isinstance(thing, PodNow):
        return explain_pod(scene, thing).told(_no_job(thing))
    what = say("Workload {workload} belongs to no Job that exists", workload=thing.name)
    found = Explanation(Cause.ORPHAN, what)
    held = isinstance(thing, WorkloadNow) and thing.holds_quota
    return found.told(detail("also", say("it still holds quota"))) if held else found


def _no_job(pod: PodNow) -> Detail:
    owners = [
        f"{dig_text(one, 'kind')} {dig_text(one, 'name')}"
        for one in dig_list(pod.raw, "metadata", "ownerReferences")
    ]
    if owners:
        note = say("the pod belongs to {owner}, not to a Job", owner=", ".join(owners))
    else:
        note = say("the pod belongs to no Job")
    return detail("also", say("{note}; Kueue queues only Jobs here", note=note))


def _way(scene: Scene, job: Maker) -> tuple[str, ...]:
    """Job, LocalQueue, ClusterQueue and flavors, as far as they are there."""
    way = [f"{kind_of(job)} {job.name}"]
    if not job.queue:
        return tuple(way)
    way.append(f"LocalQueue {job.queue}")
    local = scene.local_queue(job.queue)
    if local is not None:
        way.append(f"ClusterQueue {local.cluster_queue}")
        queue = scene.cluster_queue(local.cluster_queue)
        way += [f"flavor {name}" for name in queue.flavors] if queue else []
    return tuple(way)
