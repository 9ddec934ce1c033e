"""The account that checks look through: it only reads, by the API server's own record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.integration.cli import STEPS, Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
GRADER = "lab-grader"
READS = {"get", "list", "watch"}


def calls(log: Path) -> Iterator[dict]:
    """All that the grader's account ever asked, from all files of the audit log."""
    for file in (*log.parent.glob("audit-*.log"), log):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            if entry["user"]["username"] == GRADER:
                yield entry


def test_a_whole_run_reads_and_nothing_else(solved: Lab) -> None:
    began = datetime.now(UTC).isoformat()
    for step in STEPS:
        solved.run("check", str(step))
    for words in (("why", "train-3"), ("doctor",), ("report",), ("history",), ("hint", "1")):
        assert solved.run(*words).code in (0, 1, 2), words
    found = list(calls(Path(solved.status()["home"]) / "logs" / "audit.log"))
    run = {call["verb"] for call in found if call["requestReceivedTimestamp"] >= began[:19]}
    assert run
    assert run <= READS, run
    done = {call["verb"] for call in found if call.get("responseStatus", {}).get("code", 0) < 400}
    assert done <= READS, done
    asked = {call.get("objectRef", {}).get("resource") for call in found}
    assert {"jobs", "workloads", "clusterqueues", "localqueues", "pods"} <= asked
    assert {"list", "watch"} <= done
    assert "secrets" not in {
        call.get("objectRef", {}).get("resource")
        for call in found
        if call["requestReceivedTimestamp"] >= began[:19]
    }


@pytest.mark.parametrize(
    "words",
    [
        "create job x -n team-a --image=busybox",
        "run x -n team-a --image=busybox",
        "delete job train-2 -n team-a",
        "delete clusterqueue team-a",
        "label node gpu-node-0 a=b",
        'patch clusterqueue team-a --type=merge -p {"spec":{"stopPolicy":"Hold"}}',
        "create clusterrolebinding x --clusterrole=cluster-admin --user=lab-grader",
        "annotate localqueue lq -n team-a a=b",
        "scale job train-2 -n team-a --replicas=2",
        "create token default -n team-a",
        "get secrets -A",
        "get secret kueue-webhook-server-cert -n kueue-system",
        "auth can-i create jobs -n team-a",
        "auth can-i impersonate users",
        "get pods -A --as=admin",
    ],
)
def test_what_is_more_than_reading_is_refused(solved: Lab, words: str) -> None:
    status = solved.status()
    grader = Path(status["kubeconfig"]).with_name("grader.kubeconfig")
    arguments = " ".join(f"'{word}'" for word in words.split())
    said = solved.shell(f"kubectl --kubeconfig='{grader}' {arguments} 2>&1 && echo DONE || true")
    assert "DONE" not in said, said
    if not words.startswith("auth"):
        assert "orbidden" in said or "cannot" in said, said


def test_the_account_may_do_nothing_but_read(solved: Lab) -> None:
    grader = Path(solved.status()["kubeconfig"]).with_name("grader.kubeconfig")
    listed = solved.shell(f"kubectl --kubeconfig='{grader}' auth can-i --list --no-headers")
    for line in listed.splitlines():
        verbs = set(line[line.rindex("[") + 1 : line.rindex("]")].split())
        if "selfsubject" in line:  # asking what one may do, which everybody may
            continue
        assert verbs <= READS, line
