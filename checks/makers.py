"""From a name or a pod up to what was submitted: a Job, TrainJob, JobSet, Deployment or pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from checks.asking import JobSetNow, PodAsking, read_job_set, read_pod_asking
from checks.kit.cluster import Kind
from checks.outcome import CannotTell
from checks.scene import Scene
from checks.serving import DEPLOYMENT, DeploymentNow, read_deployment
from checks.things import Object, Thing, owner_of
from checks.training import JOB_SET, TRAIN_JOB, TrainJobNow, read_train_job
from checks.watching import ADMISSION_GATE, JobNow, PodNow, WorkloadNow

Maker = JobNow | TrainJobNow | JobSetNow | DeploymentNow | PodAsking
_READERS: Mapping[Kind, Callable[[Object], TrainJobNow | JobSetNow | DeploymentNow]] = {
    TRAIN_JOB: read_train_job,
    DEPLOYMENT: read_deployment,
    JOB_SET: read_job_set,
}
_KIND_NAMES: Mapping[type[Thing], str] = {
    JobNow: "Job",
    TrainJobNow: "TrainJob",
    JobSetNow: "JobSet",
    DeploymentNow: "Deployment",
    PodAsking: "Pod",
    PodNow: "Pod",
    WorkloadNow: "Workload",
}
T = TypeVar("T", bound=Thing)


def kind_of(thing: Thing) -> str:
    """The kind of a live object, as Kubernetes has it."""
    return _KIND_NAMES[type(thing)]


def beyond_jobs(scene: Scene, kind: str = "") -> list[TrainJobNow | JobSetNow | DeploymentNow]:
    """The TrainJobs, Deployments and JobSets of all namespaces, or those of one kind.

    A kind that the API does not serve, or not to this account, has none.
    """
    wanted = [(one, read) for one, read in _READERS.items() if kind in ("", one.name)]
    return [read(raw) for one, read in wanted for raw in _all(scene, one)]


def maker_of(scene: Scene, thing: Thing) -> Maker | None:
    """What was submitted of which this is: itself, or what owns it, directly or not."""
    if isinstance(thing, PodNow):
        job = _owner(scene.jobs(), thing)
        if job is None:
            return read_pod_asking(thing.raw) if _is_held(scene, thing) else None
        return maker_of(scene, job)
    if isinstance(thing, WorkloadNow):
        job = _owner(scene.jobs(), thing)
        if job is not None:
            return job
        pod = next((one for one in scene.pods() if one.uid == thing.owner_uid), None)
        return read_pod_asking(pod.raw) if pod else _owner(beyond_jobs(scene), thing)
    if isinstance(thing, JobNow | JobSetNow) and owner_of(thing.raw)[0]:
        above = _owner(beyond_jobs(scene), thing)
        return thing if above is None else maker_of(scene, above)
    known = JobNow | TrainJobNow | JobSetNow | DeploymentNow | PodAsking
    return thing if isinstance(thing, known) else None


def _is_held(scene: Scene, pod: PodNow) -> bool:
    """Kueue lets this pod in by itself: it has its gate, or a Workload of its own."""
    return ADMISSION_GATE in pod.gates or scene.workload_of(pod) is not None


def _owner(candidates: Iterable[T], thing: Thing) -> T | None:
    uid = owner_of(thing.raw)[0]
    return next((one for one in candidates if uid and one.uid == uid), None)


def _all(scene: Scene, kind: Kind) -> tuple[Object, ...]:
    try:
        return scene.cluster.all(kind)
    except CannotTell:
        return ()
