"""Next moves of the second lab that must not lead in a circle, and findings that must be true."""

import pytest

from checks.gpu_preemption.judge_evicted_file import require_evicted_noted
from checks.gpu_preemption.judge_gated import require_gated
from checks.gpu_preemption.judge_order_file import Noted, read_order_file, require_true
from checks.gpu_preemption.judge_pods import judge_job
from checks.gpu_preemption.judge_preempting import require_yielding
from checks.gpu_preemption.judge_refused import refusal_file, require_refusal_noted
from checks.gpu_preemption.judge_training import judge_label
from checks.gpu_preemption.judge_waiting import require_high_holds, require_rival
from checks.gpu_preemption.waiting_text import require_words
from checks.judging.preemption import CONDITIONS, RECORDER, Preemption
from checks.judging.said import others_named
from checks.judging.words import Said, judge_words
from checks.kit.expect import plain
from checks.kit.files import Files
from checks.kit.host import Workplace
from checks.outcome import Mismatch
from checks.scene import Scene
from checks.serving import read_deployment
from tests.unit.checks.conftest import ListedCluster, condition
from tests.unit.checks.test_manifests import text_file
from tests.unit.checks.test_preemption import history, workload
from tests.unit.checks.test_tenant_judges import changed, lab, manifest
from tests.unit.checks.test_tenant_order import FIRST, OTHER, STORY, outcome_of
from tests.unit.checks.test_tenant_past import SERVE, change
from tests.unit.checks.test_yielding import HAS_QUOTA, HIGH, LEFT, LOW, high_job, scene, train_job

__all__ = ["lab"]  # a fixture

RIVAL = "finetune-02"
WAITS = workload(HIGH, condition("QuotaReserved", "False", "WaitingForQuota"), priority=1000)
UNUSED = "couldn't assign: insufficient unused quota for nvidia.com/gpu in flavor f, 2 more needed"
NEVER = "couldn't assign: insufficient quota for nvidia.com/gpu in flavor f, (5) > capacity (4)"
QUEUE, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


def rival():
    job = train_job(RIVAL, suspend=False, priority="high")
    return job | {"spec": manifest("high.yaml")["spec"] | {"suspend": False}}


def told_by(judge, *args):
    with pytest.raises(Mismatch) as told:
        judge(*args)
    return told.value.finding


@pytest.mark.parametrize("labels", [{}, {QUEUE: "training"}, {QUEUE: "wrong"}])
def test_a_missing_class_is_told_in_its_own_words(lab, labels):
    job = changed(manifest(f"{OTHER}.yaml"), ("metadata", "labels"), labels)
    fault = judge_job(job, lab, {CLASS: "normal"}, lab.order.gpus)
    assert str(fault.found) == "no such label"
    assert str(fault.next_move).endswith(f"add {CLASS}: normal")
    assert "lets none of them in" in str(judge_job(job, lab, {"q": "x"}, 2).next_move)
    assert str(judge_label(job, CLASS, "low").found) == "no such label"


def test_a_key_that_is_near_the_class_is_named(lab):
    job = changed(manifest(f"{OTHER}.yaml"), ("metadata", "labels"), {"priorityClass": "normal"})
    assert 'priorityClass: "normal"' in str(judge_label(job, CLASS, "low").found)


def test_the_rival_is_not_asked_for_before_step_5(lab):
    here = scene([train_job(LOW, suspend=False)], [workload(LOW, *HAS_QUOTA, held="4")])
    finding = told_by(require_rival, here, lab)
    assert "STEP=5" in str(finding.next_move)
    assert RIVAL not in str(finding.next_move)
    here = scene([rival()], [workload(RIVAL, *HAS_QUOTA, held="2")])
    assert "delete finetune-02 first" in str(told_by(require_high_holds, here, lab).next_move)


def test_the_rival_goes_before_step_5_can_be_played(lab):
    jobs = [train_job(LOW, suspend=True), high_job(), rival()]
    low = workload(LOW, condition("QuotaReserved", "False", "WaitingForQuota"))
    here = scene(jobs, [low, WAITS, workload(RIVAL, *HAS_QUOTA, held="2", priority=1000)])
    finding = told_by(require_yielding, here, lab)
    assert str(finding.found).startswith("it did not; finetune-01: ")
    first, _, then = str(finding.next_move).partition("; ")
    assert first == "delete finetune-02, which belongs to step 6"
    assert then.startswith("then delete finetune-01, wait until pretrain-01 runs")


@pytest.mark.parametrize("there", [[], [high_job()]])
def test_the_pods_can_wait_only_behind_the_high_one(lab, tmp_path, there):
    def pod(name):
        owner = {"uid": "rs", "name": "serve-1", "controller": True}
        about = {"name": name, "namespace": "team-b", "uid": name, "ownerReferences": [owner]}
        return {"metadata": about, "spec": {"schedulingGates": [{"name": "g"}]}}

    sets = [{"metadata": SERVE["metadata"] | {"name": "serve-1", "uid": "rs"}}]
    sets[0]["metadata"]["ownerReferences"] = [{"uid": "d", "name": "serve", "controller": True}]
    pods = [pod("a"), pod("b")]
    workloads = [workload("a"), workload("b")]
    for one, name in zip(workloads, "ab", strict=True):
        one["metadata"]["ownerReferences"][0] |= {"uid": name, "kind": "Pod"}
    lists = {"pods": pods, "replicasets": sets, "trainjobs": there, "workloads": workloads}
    past = history(tmp_path, change("Pod", "a", "a", 1))
    here = Scene(ListedCluster(**lists), "team-b", "kueue.x-k8s.io/v1beta2", past)
    finding = told_by(require_gated, here, lab, read_deployment(SERVE))
    assert str(finding.next_move).startswith("delete serve and finetune-02; apply high.yaml")


def test_unused_quota_and_quota_are_two_things():
    found = judge_words(UNUSED, (Said("ExceedsMaxQuota", NEVER),), "")
    assert "of unused quota for nvidia.com/gpu" in str(found)


def test_a_dump_of_all_workloads_is_told_as_one(lab):
    here = scene([], [workload("rush-01"), workload(LOW), workload(HIGH)])
    text = f"trainjob-rush-01 {NEVER}\ntrainjob-{LOW} {UNUSED}\n"
    also = others_named(here, "wl-rush-01", text)
    assert also == (LOW,)
    said = (Said("ExceedsMaxQuota", NEVER),)
    with pytest.raises(Mismatch, match="the Workloads of pretrain-01 in it") as told:
        require_words(text_file(text), said, NEVER, plain("rush-01"), also=also)
    assert "keep only what" in str(told.value.finding.next_move)
    require_words(text_file(NEVER), said, NEVER, plain("rush-01"), also=())


def test_words_that_are_gone_are_looked_for_elsewhere():
    said, move = (Said("ExceedsMaxQuota", NEVER),), plain("make history")
    with pytest.raises(Mismatch) as told:
        require_words(text_file("a guess"), said, NEVER, plain("rush-01"), move=move)
    assert told.value.finding.next_move is move


MESSAGE = LEFT[0]["message"]


@pytest.mark.parametrize(("source", "words"), [(CONDITIONS, "copy"), (RECORDER, "not say it any")])
def test_a_note_of_an_earlier_run(lab, source, words):
    was = Preemption("Preempted", "InClusterQueue", MESSAGE, "", source)
    other = MESSAGE.replace(f"tj-{HIGH}", "tj-old")
    text = f"evicted=Preempted\npreempted=InClusterQueue\nmessage={MESSAGE}\n"
    require_evicted_noted(text_file(text), lab, was)
    uids = MESSAGE.replace(f"wl-{HIGH}", "1-2-3-4-5").replace(f"tj-{HIGH}", "1-2-3-4-6")
    was = Preemption("Preempted", "InClusterQueue", uids, "", source)
    file = text_file(text.replace(MESSAGE, other))
    finding = told_by(require_evicted_noted, file, lab, was)
    assert "its JobUID is tj-old" in str(finding.found)
    assert words in str(finding.next_move)
    now = text_file("evicted=QuotaReserved\npreempted=QuotaReserved\nmessage=x\n")
    move = str(told_by(require_evicted_noted, now, lab, was).next_move)
    assert ("read both" in move) is (source is CONDITIONS)


def test_a_number_that_lost_its_unit_is_told_as_it_is_written(lab, tmp_path):
    outcome = outcome_of(lab, tmp_path, *STORY)
    content = '{"first": "%s", "consumed": {"training": 393913396, "research": 0}, "weight": %s}'
    file = text_file(content % (FIRST, '{"training": 2, "research": 1}'), "order.json")
    noted = read_order_file(file, lab)
    assert isinstance(noted, Noted)
    assert noted.spelled["training"] == "393913396"
    status = {"fairSharing": {"admissionFairSharingStatus": {}}}
    status["fairSharing"]["admissionFairSharingStatus"]["consumedResources"] = {
        lab.gpu: "393913396n"
    }
    queue = manifest("tenant.yaml", 1) | {"status": status}
    here = Scene(ListedCluster(localqueues=[queue]), "team-b", "kueue.x-k8s.io/v1beta2")
    finding = told_by(require_true, here, lab, file, noted, outcome)
    assert str(finding.found) == "393913396, without the n behind it"


POLICY = {
    "metadata": {"name": "trainjob-queue-is-kueue", "annotations": {"gpu-queue-lab/word": "w"}},
    "spec": {"validations": [{"messageExpression": '" has a key, which is not allowed. [w]"'}]},
}


@pytest.mark.parametrize(
    ("end", "words"), [("", "its end"), (" [w", "its end"), (" [x]", "elsewhere"), (" [w]", "")]
)
def test_how_a_refusal_ends(lab, end, words):
    here = Scene(
        ListedCluster(validatingadmissionpolicies=[POLICY]), "team-b", "kueue.x-k8s.io/v1beta2"
    )
    file = text_file(f'TrainJob "banned-01" has a key, which is not allowed.{end}')
    if not words:
        require_refusal_noted(here, lab, file)
        return
    assert words in str(told_by(require_refusal_noted, here, lab, file).found)


def test_an_empty_refusal_tells_how_it_is_kept(lab, tmp_path):
    (tmp_path / lab.refused.file).write_text("")
    files = Files(Workplace("local://", tmp_path))
    assert "2>" in str(told_by(refusal_file, files, lab).next_move)
