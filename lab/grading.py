"""Runs one step's checks in a process of their own, with a time limit, and reads the result."""

from __future__ import annotations

import json
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
from lab.check_process import TellNews, run_checks
from lab.model import Lab, Step
from lab.places import Place
from lab.probing import Probe
from lab.progress import StepRecord
from provision.errors import LabError, TimedOut
from provision.message import Message, say
from provision.target import TargetInfo

REQUEST_SCHEMA = 1
NEWS = "news.jsonl"
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
    tell: TellNews | None = None,
) -> StepResult:
    """Judge one step now. Never raises for trouble of the place: that becomes CANNOT TELL.

    `records` give the evidence of steps passed before; `limit` is in seconds; `tell` hears of each
    check that begins or ends.
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
        tell=tell,
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
    tell: TellNews | None = None,
) -> StepResult:
    """What the checks of a step say of a target, however its components are.

    `history` is the file of the recorder, where there is one.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="lab-grade-") as folder:
            request, result = Path(folder) / "request.json", Path(folder) / "result.json"
            asked = _request(lab, step, info, records, history)
            if tell is not None:
                asked["news"] = str(Path(folder) / NEWS)
            request.write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")
            return _run(step, request, result, logs, limit, tell)
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
) -> dict[str, object]:
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


def _run(
    step: Step, request: Path, result: Path, logs: Path, limit: float, tell: TellNews | None
) -> StepResult:
    folder = checks_folder()
    command = (
        *(sys.executable, "-I", "-m", "pytest", *PYTEST_FLAGS),
        *("-p", "checks.plugin", "-c", str(folder / "pytest-checks.ini")),
        *("--rootdir", str(folder), f"--lab-request={request}", f"--lab-result={result}"),
        str(folder / _slug_of(request) / step.checks),
    )
    news = request.with_name(NEWS)
    try:
        run_checks(command, folder=request.parent, logs=logs, limit=limit, news=news, tell=tell)
    except TimedOut:
        return cannot_tell(
            step,
            say("The checks gave no verdict within {seconds} s.", seconds=f"{limit:g}"),
            say("Check again; if it stays so, look with make status."),
            seconds=limit,
        )
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
