"""Runs one step's checks in a process of their own, with a time limit, and reads the result."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from checks.outcome import (
    CheckResult,
    Outcome,
    StepResult,
    StepVerdict,
    evidence_to_json,
    result_from_json,
)
from lab.model import Lab, Step
from lab.places import Place
from lab.probing import Probe
from lab.progress import StepRecord
from provision.errors import LabError
from provision.message import Message, say
from provision.target import TargetInfo

REQUEST_SCHEMA = 1
POLL_SECONDS = 6.0
WAITED_SECONDS = 2.0
LIMIT_SECONDS = 30.0

PYTEST_FLAGS = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--noconftest")


def grade(
    place: Place,
    step: Step,
    records: Mapping[int, StepRecord],
    *,
    limit: float = LIMIT_SECONDS,
) -> StepResult:
    """Judge one step now. Never raises for trouble of the place: that becomes CANNOT TELL.

    `records` give the evidence of steps passed before; `limit` is in seconds.
    """
    began = time.monotonic()
    try:
        info = place.target.info()
    except LabError as error:
        return cannot_tell(step, error.what, error.next_move)
    probe = Probe(place)
    judged = judge(
        place.lab,
        step,
        info,
        records,
        logs=place.home / "logs",
        history=place.history_file,
        limit=limit,
    )
    trouble = probe.trouble()
    if trouble is None and judged.verdict is StepVerdict.NOT_YET:
        trouble = _trouble_since(place, judged)
    if trouble is not None:
        return cannot_tell(step, *trouble, seconds=time.monotonic() - began)
    return judged


def _trouble_since(place: Place, judged: StepResult) -> tuple[Message, Message | None] | None:
    """What went down while the checks waited for it in vain; those that did not wait saw it up."""
    return Probe(place).trouble() if judged.seconds >= WAITED_SECONDS else None


def judge(
    lab: Lab,
    step: Step,
    info: TargetInfo,
    records: Mapping[int, StepRecord],
    *,
    logs: Path,
    history: Path | None = None,
    limit: float = LIMIT_SECONDS,
) -> StepResult:
    """What the checks of a step say of a target, however its components are.

    `history` is the file of the recorder, where there is one.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="lab-grade-") as folder:
            request, result = Path(folder) / "request.json", Path(folder) / "result.json"
            request.write_text(
                json.dumps(_request(lab, step, info, records, history), ensure_ascii=False),
                encoding="utf-8",
            )
            return _run(step, request, result, logs, limit)
    except OSError as error:
        return cannot_tell(
            step,
            say("The grader could not work: {error}", error=error),
            say("Make room for temporary files, or set TMPDIR to a folder with room."),
        )


def cannot_tell(
    step: Step, what: Message, next_move: Message | None, *, seconds: float = 0.0
) -> StepResult:
    """The result of a step that could not be judged at all."""
    check = CheckResult(
        id="place",
        title=say("The place can be judged"),
        outcome=Outcome.ERROR,
        trouble=what,
        next_move=next_move,
    )
    return StepResult(step=step.number, checks=(check,), requests=0, seconds=seconds)


def _request(
    lab: Lab,
    step: Step,
    info: TargetInfo,
    records: Mapping[int, StepRecord],
    history: Path | None,
) -> Mapping[str, object]:
    return {
        "schema": REQUEST_SCHEMA,
        "lab": lab.slug,
        "step": step.number,
        "facts": lab.facts,
        "history": None if history is None else str(history),
        "target": {
            "name": info.name,
            "lab": info.lab,
            "kubeconfig": str(info.kubeconfig),
            "grader_kubeconfig": str(info.grader_kubeconfig),
            "workspace": str(info.workspace),
            "host": info.host,
            "versions": dict(info.versions),
        },
        "within": POLL_SECONDS,
        "credit": {
            str(number): {
                "passed_at": record.passed_at,
                "evidence": [evidence_to_json(item) for item in record.evidence],
            }
            for number, record in records.items()
            if record.passed_at
        },
    }


def _run(step: Step, request: Path, result: Path, logs: Path, limit: float) -> StepResult:
    folder = checks_folder()
    log = _open_log(logs)
    process = subprocess.Popen(
        [
            *(sys.executable, "-I", "-m", "pytest", *PYTEST_FLAGS),
            *("-p", "checks.plugin", "-c", str(folder / "pytest-checks.ini")),
            *("--rootdir", str(folder), f"--lab-request={request}", f"--lab-result={result}"),
            str(folder / _slug_of(request) / step.checks),
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=request.parent,
        env=_environment(os.environ),
        start_new_session=True,
    )
    try:
        process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        return cannot_tell(
            step,
            say("The checks gave no verdict within {seconds} s.", seconds=f"{limit:g}"),
            say("Check again; if it stays so, look with make status."),
            seconds=limit,
        )
    finally:
        _end_group(process)
        os.close(log)
    try:
        return result_from_json(json.loads(result.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return cannot_tell(
            step,
            say("The checks ended without a verdict ({error}).", error=type(error).__name__),
            say("Their own words are in {log}.", log=logs / "checks.log"),
        )


def _slug_of(request: Path) -> str:
    slug = json.loads(request.read_text(encoding="utf-8"))["lab"]
    return str(slug)


def checks_folder() -> Path:
    """Where the checks of all labs lie."""
    spec = find_spec("checks")
    if spec is None or not spec.submodule_search_locations:
        raise LabError(
            say("The checks are not installed."),
            next_move=say("Run make provision from the project's folder."),
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _open_log(logs: Path) -> int:
    """The newest run's output only, so that the log cannot grow; nowhere if it can't be written."""
    try:
        logs.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        return os.open(logs / "checks.log", flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's that could change a verdict reaches the checks."""
    kept = ("PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK")
    return {"LC_ALL": "C.UTF-8", **{key: environment[key] for key in kept if key in environment}}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End all that the checks started, also when they ended themselves or were interrupted."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
