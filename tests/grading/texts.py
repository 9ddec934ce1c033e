"""Changed texts and other deeds, as data for the mutants: what was noted down, what was done."""

from __future__ import annotations

from dataclasses import dataclass

# All files that belong to the answer of a step.
ANSWER = {
    1: ("flavor.yaml",),
    2: ("cq.yaml",),
    3: ("lq.yaml",),
    4: ("job-1.yaml",),
    5: ("job-2.yaml", "job-3.yaml", "waiting.txt"),
    6: ("sneaky.yaml", "bypass.txt"),
    7: ("usage.json",),
    8: (),
}


@dataclass(frozen=True, slots=True)
class Text:
    """A file of a step with another content; `reason` says why it means the same, if it does."""

    step: int
    file: str
    name: str
    content: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Something else that a learner did, in a cluster before or after the step's usual answer."""

    step: int
    name: str
    script: str
    is_answered: bool = False


_SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for"
_WAITING = {
    "empty": "",
    "blank": " \n\n",
    "guess": "The GPUs are all taken.\n",
    "guess-reason": "NotEnoughGPUs\n",
    "half-word": "Waiting\n",
    "other-word": "WaitingForGPU\n",
    "cut-word": "WaitingForQuot\n",
    "run-on": "NotWaitingForQuotaReally\n",
    "pods-ready": "WaitForStart\n",
    "admitted-reason": "NoReservation: The workload has no reservation\n",
    "of-train-2": "QuotaReserved: Quota reserved in ClusterQueue team-a\n",
    "admitted": "The workload is admitted\n",
    "max-quota": "ExceedsMaxQuota\n",
    "no-flavor": "NoMatchingFlavor\n",
    "misconfigured": "Misconfigured: LocalQueue lq doesn't exist\n",
    "inactive": "Suspended: ClusterQueue team-a is inactive\n",
    "preempted": "WaitingForPreemptedWorkloads\n",
    "pods": "WaitingForPodsReady\n",
    "scheduler": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n",
    "job-suspended": "JobSuspended: Job suspended\n",
    "denied": "It is not WaitingForQuota.\n",
    "denied-korean": "WaitingForQuota 가 아닙니다.\n",
    "two-reasons": "WaitingForQuota or ExceedsMaxQuota\n",
    "name-only": "train-3\n",
    "yes": "yes\n",
    "command": "kubectl -n team-a get workloads\n",
    "other-resource": f"{_SHORT} cpu\n",
    "number-only": "1 more needed\n",
    "start-only": "couldn't assign flavors\n",
    "korean-guess": "쿼터가 모자랍니다.\n",
    "condition-type": "QuotaReserved=False\n",
}
_BYPASS = {
    "empty": "",
    "suspended-true": "suspended=true\nworkload=none\n",
    "workload-name": "suspended=false\nworkload=job-sneaky-1a2b3\n",
    "workload-yes": "suspended=false\nworkload=yes\n",
    "both-wrong": "suspended=true\nworkload=job-sneaky\n",
    "no-suspended": "workload=none\n",
    "no-workload": "suspended=false\n",
    "blank-suspended": "suspended=\nworkload=none\n",
    "blank-workload": "suspended=false\nworkload=\n",
    "key-suspend": "suspend=false\nworkload=none\n",
    "key-workloads": "suspended=false\nworkloads=none\n",
    "swapped": "suspended=none\nworkload=false\n",
    "number": "suspended=0\nworkload=0\n",
    "twice": "suspended=false\nsuspended=true\nworkload=none\n",
    "twice-workload": "suspended=false\nworkload=none\nworkload=job-sneaky\n",
    "one-line": "suspended=falseworkload=none\n",
    "commented": "# suspended=false\n# workload=none\n",
    "words": "it is not suspended and has no workload\n",
    "train-3": "suspended=true\nworkload=job-train-3\n",
    "typo": "suspended=fasle\nworkload=none\n",
    "typo-none": "suspended=false\nworkload=nome\n",
    "glued": "suspended=falsey\nworkload=nonesuch\n",
}
_USAGE = {
    "empty": "",
    "empty-object": "{}",
    "list": "[2, 1, 2]",
    "number": "2",
    "null": "null",
    "swapped": '{"admitted": 1, "pending": 2, "gpu_reserved": 2}',
    "stale": '{"admitted": 1, "pending": 0, "gpu_reserved": 1}',
    "after-step-8": '{"admitted": 2, "pending": 0, "gpu_reserved": 2}',
    "with-sneaky": '{"admitted": 3, "pending": 1, "gpu_reserved": 3}',
    "no-brace": '{"admitted": 2, "pending": 1, "gpu_reserved": 2',
    "single-quotes": "{'admitted': 2, 'pending': 1, 'gpu_reserved': 2}",
    "comma": '{"admitted": 2, "pending": 1, "gpu_reserved": 2,}',
    "twice": '{"admitted": 2, "pending": 1, "gpu_reserved": 2, "admitted": 3}',
    "nested": '{"usage": {"admitted": 2, "pending": 1, "gpu_reserved": 2}}',
    "fraction": '{"admitted": 2, "pending": 1, "gpu_reserved": 2.5}',
    "unit": '{"admitted": 2, "pending": 1, "gpu_reserved": "2Gi"}',
    "milli": '{"admitted": 2, "pending": 1, "gpu_reserved": "2m"}',
}
TEXTS = (
    *(Text(5, "waiting.txt", name, content) for name, content in _WAITING.items()),
    *(Text(6, "bypass.txt", name, content) for name, content in _BYPASS.items()),
    *(Text(7, "usage.json", name, content) for name, content in _USAGE.items()),
)

_T = "kubectl -n team-a"
_PATCH_QUEUE = "kubectl patch clusterqueue team-a --type=merge -p"
_HOLD = f'{_PATCH_QUEUE} \'{{"spec":{{"stopPolicy":"Hold"}}}}\''
_MORE = (
    "kubectl patch clusterqueue team-a --type=json -p "
    '\'[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/2/nominalQuota",'
    '"value":3}]\''
)
_RELABEL = (
    "kubectl patch resourceflavor fake-gpu --type=merge -p "
    '\'{"spec":{"nodeLabels":{"nvidia.com/gpu.present":"false"}}}\''
)
_FREE = f"{_T} delete job train-1"
_RUNS_3 = f"{_T} wait --for=jsonpath='{{.status.ready}}'=1 job/train-3 --timeout=30s"


def _deactivate(job: str) -> str:
    return (
        f"{_T} get workloads.kueue.x-k8s.io -o name | grep job-{job}- | xargs -I{{}} "
        f'{_T} patch {{}} --type=merge -p \'{{"spec":{{"active":false}}}}\''
    )


def _report(job: str, phase: str, reason: str) -> str:
    """What a node would have reported of a Job's pod: a container that waits."""
    return (
        f"{_T} wait --for=jsonpath='{{.status.ready}}'=1 job/{job} --timeout=30s\n"
        f"for pod in $({_T} get pods -l batch.kubernetes.io/job-name={job} -o name); do\n"
        f'{_T} patch "$pod" --subresource=status --type=merge -p \'{{"status":{{"phase":"{phase}",'
        '"conditions":[{"type":"PodScheduled","status":"True"},'
        '{"type":"Ready","status":"False","reason":"ContainersNotReady"}],'
        '"containerStatuses":[{"name":"trainer","image":"busybox:1.36","imageID":"",'
        f'"ready":false,"restartCount":0,"state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}}}\'\n'
        "done"
    )


def _sed(script: str, file: str) -> str:
    return f"sed '{script}' {file} | kubectl apply -f -"


_HOG = (
    "sed 's/train-1/hog/; s/nvidia.com.gpu: 1/nvidia.com\\/gpu: 2/' job-1.yaml | kubectl apply -f -"
    f"\n{_T} wait --for=jsonpath='{{.status.ready}}'=1 job/hog --timeout=30s"
)
_STEP_2 = {
    "flavor-deleted": "kubectl apply -f cq.yaml\nkubectl delete resourceflavor fake-gpu "
    "--wait=false",
    "flavor-gone-first": "kubectl delete resourceflavor fake-gpu\nkubectl apply -f cq.yaml",
    "flavor-relabelled": f"{_RELABEL}\nkubectl apply -f cq.yaml",
    "not-applied": "true",
    "applied-with-more": _sed("s/nominalQuota: 2$/nominalQuota: 3/", "cq.yaml"),
    "patched-after": f"kubectl apply -f cq.yaml\n{_MORE}",
    "held-after": f"kubectl apply -f cq.yaml\n{_HOLD}",
    "deleted-after": "kubectl apply -f cq.yaml\nkubectl delete clusterqueue team-a",
}
_STEP_4 = {
    "held": f"{_HOLD}\nkubectl apply -f job-1.yaml",
    "quota-more": f"{_MORE}\nkubectl apply -f job-1.yaml",
    "queue-gone": f"{_T} delete localqueue lq\nkubectl apply -f job-1.yaml",
    "not-applied": "true",
    "two-gpus": _sed("s/nvidia.com.gpu: 1/nvidia.com\\/gpu: 2/", "job-1.yaml"),
    "other-queue": _sed("s/queue-name: lq/queue-name: other/", "job-1.yaml"),
    "default-namespace": _sed("s/namespace: team-a/namespace: default/", "job-1.yaml"),
    "deleted-after": f"kubectl apply -f job-1.yaml\n{_FREE}",
    "hog": f"{_HOG}\nkubectl apply -f job-1.yaml",
    "two-hogs": 'for n in 1 2; do sed "s/train-1/hog-$n/" job-1.yaml | kubectl apply -f -; done\n'
    f"{_T} wait --for=jsonpath='{{.status.ready}}'=1 job/hog-1 job/hog-2 --timeout=30s\n"
    "kubectl apply -f job-1.yaml",
    "deactivated": f"kubectl apply -f job-1.yaml\n{_deactivate('train-1')}",
    "image-pull": f"kubectl apply -f job-1.yaml\n{_report('train-1', 'Pending', 'ErrImagePull')}",
    "crash-loop": "kubectl apply -f job-1.yaml\n"
    + _report("train-1", "Running", "CrashLoopBackOff"),
    "config-error": "kubectl apply -f job-1.yaml\n"
    + _report("train-1", "Pending", "CreateContainerConfigError"),
}
_STEP_5 = {
    "held": _HOLD,
    "quota-more": _MORE,
    "queue-gone": f"{_T} delete localqueue lq",
    "train-1-gone": _FREE,
    "train-1-off": _deactivate("train-1"),
    "train-1-again": f"{_FREE}\nkubectl apply -f job-1.yaml",
    "train-2-gone": f"{_T} delete job train-2",
    "train-2-off": _deactivate("train-2"),
    "train-3-gone": f"{_T} delete job train-3",
    "train-3-off": _deactivate("train-3"),
}
_STEP_8 = {
    "nothing": "true",
    "train-2": f"{_T} delete job train-2",
    "train-3": f"{_T} delete job train-3",
    "sneaky": f"{_T} delete job sneaky",
    "pod": f"{_T} delete pod -l batch.kubernetes.io/job-name=train-1",
    "again": f"{_FREE}\nkubectl apply -f job-1.yaml",
    "dry-run": f"{_FREE} --dry-run=server",
    "other-namespace": "kubectl -n default delete job train-1",
    "quota-more": f"{_MORE}\n{_FREE}",
    "held": f"{_HOLD}\n{_FREE}",
    "queue-gone": f"{_T} delete localqueue lq\n{_FREE}",
    "relabelled": f"{_RELABEL}\n{_FREE}",
    "replaced-after": f"{_FREE}\n{_T} delete job train-3\nkubectl apply -f job-3.yaml",
    "replaced-before": f"{_T} delete job train-3\nkubectl apply -f job-3.yaml\n{_FREE}",
    "replaced-by-force": f"{_FREE}\nkubectl replace --force -f job-3.yaml",
    "train-3-gone-after": f"{_FREE}\n{_T} delete job train-3",
    "train-3-unlabelled": f"{_T} label job train-3 kueue.x-k8s.io/queue-name-\n{_FREE}",
    "train-3-off": f"{_deactivate('train-3')}\n{_FREE}",
    "train-3-off-after": f"{_FREE}\n{_RUNS_3}\n{_deactivate('train-3')}",
    "other-in-line": _sed("s/train-3/train-4/", "job-3.yaml")
    + "\n"
    + _deactivate("train-3")
    + f"\n{_FREE}",
    "image-pull": f"{_FREE}\n{_report('train-3', 'Pending', 'ImagePullBackOff')}",
    "crash-loop": f"{_FREE}\n{_report('train-3', 'Running', 'CrashLoopBackOff')}",
    "config-error": f"{_FREE}\n{_report('train-3', 'Pending', 'CreateContainerConfigError')}",
}
ACTS = (
    *(Act(2, name, script) for name, script in _STEP_2.items()),
    *(Act(4, name, script) for name, script in _STEP_4.items()),
    *(Act(5, name, script, is_answered=True) for name, script in _STEP_5.items()),
    *(Act(8, name, script) for name, script in _STEP_8.items()),
)
