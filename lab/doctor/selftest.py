"""The grader is tried on one known right and one known wrong answer.

Both lie in `checks/<lab>/selftest`, each a folder as the case kit has them: they are played on the
kit's own place when that is up. Else they are judged against the answers of an API server, recorded
beside them when the step was done.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from checks.outcome import StepResult, StepVerdict
from lab.doctor.replay import Replay, read_answers
from lab.fields import CatalogError, Fields
from lab.grading import checks_folder, judge
from lab.model import Lab
from provision.errors import LabError
from provision.health import Diagnosis, bad, good, note
from provision.message import Message, say
from provision.target import TargetInfo

KINDS = {"right": say("right"), "wrong": say("wrong")}
ANSWERS = "answers.json"
REPORT = say("verdicts cannot be trusted now: bring the project's folder to a known state")

Kit = Callable[[Path], StepResult | None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A known answer: for a wrong one the check that must fail, and words that it must name."""

    step: int
    kind: str
    folder: Path
    check: str
    names: tuple[str, ...]


def try_grader(lab: Lab, kit: Kit | None = None) -> Iterator[Diagnosis]:
    """One finding for each known answer; a lab that has none gets a note.

    `kit` plays a case on the kit's place, and returns None when it cannot.
    """
    folder = checks_folder() / lab.slug / "selftest"
    if not folder.is_dir():
        yield note("grader", say("{lab} brings no known answers to try", lab=lab.slug))
        return
    try:
        trials = [read_trial(folder / kind, kind) for kind in KINDS]
        answers = read_answers(folder / ANSWERS)
    except LabError as error:
        yield bad("grader", error.what, REPORT)
        return
    played = {trial.kind: kit(trial.folder) if kit else None for trial in trials}
    with ThreadPoolExecutor(len(trials)) as pool:
        yield from pool.map(lambda t: _try_one(lab, t, answers, played[t.kind]), trials)


def read_trial(folder: Path, kind: str) -> Trial:
    """A known answer, read strictly; CatalogError names what is wrong with it."""
    file = folder / "case.yaml"
    try:
        data = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CatalogError(
            say("{file} cannot be read: {error}", file=file, error=" ".join(str(error).split())),
            next_move=say("Correct {file}.", file=file),
        ) from error
    fields = Fields(data, file=str(file))
    for text in ("title", "why", "source"):
        fields.take(text, str)
    trial = Trial(
        step=fields.take("step", int),
        kind=fields.take("kind", str),
        folder=folder,
        check=fields.take("check", str, ""),
        names=fields.take_list("names", str),
    )
    fields.end()
    if trial.kind != kind or (kind == "wrong") != bool(trial.check):
        raise CatalogError(
            say("{file}: a {kind} answer belongs here", file=file, kind=KINDS[kind]),
            next_move=say("Correct {file}.", file=file),
        )
    return trial


def _try_one(
    lab: Lab, trial: Trial, answers: Mapping[str, object], played: StepResult | None
) -> Diagnosis:
    began = time.monotonic()
    name, why = f"grader.{trial.kind}", None
    if played is not None and played.verdict is not StepVerdict.CANNOT_TELL:
        result, where = played, say("in the place of the cases")
    else:
        where = say("on recorded objects")
        with tempfile.TemporaryDirectory(prefix="lab-doctor-") as home, Replay(answers) as replay:
            result = judge_files(lab, trial.step, trial.folder / "files", replay, Path(home))
        if replay.writes:
            why = say("the checks tried to write {count} times", count=replay.writes)
    why = why or _why_off(trial, result)
    seconds = result.seconds if result is played else time.monotonic() - began
    if why is not None:
        return bad(name, why, REPORT, seconds=seconds)
    step = trial.step
    if trial.kind == "right":
        what = say("a right answer to step {step} passes ({where})", step=step, where=where)
    else:
        what = say(
            "a wrong answer to step {step} is told by its cause ({where})", step=step, where=where
        )
    return good(name, what, seconds=seconds)


def judge_files(lab: Lab, step: int, files: Path, replay: Replay, home: Path) -> StepResult:
    """What a step's checks say of the files in a folder; `home` is an empty one to work in."""
    shutil.copytree(files, home / "workspace")
    (home / "kubeconfig").write_text(replay.kubeconfig, encoding="utf-8")
    info = TargetInfo(
        name="recorded",
        lab=lab.slug,
        kubeconfig=home / "kubeconfig",
        grader_kubeconfig=home / "kubeconfig",
        workspace=home / "workspace",
        host="local://",
        versions={},
    )
    return judge(lab, lab.step(step), info, {}, logs=home / "logs")


def _why_off(trial: Trial, result: StepResult) -> Message | None:
    """What is off with the verdict on a known answer; None when it is right."""
    wanted = StepVerdict.PASS if trial.kind == "right" else StepVerdict.NOT_YET
    if result.verdict is not wanted:
        return say(
            "the known {kind} answer to step {step} got {verdict}: {why}",
            kind=KINDS[trial.kind],
            step=trial.step,
            verdict=result.verdict,
            why=_first_words(result),
        )
    failure = result.first_failure
    if failure is None or failure.finding is None:
        return None
    finding = failure.finding
    told = " ".join(str(m) for m in (finding.looked_at, finding.expected, finding.found))
    unsaid = [name for name in trial.names if name not in told]
    if failure.id != trial.check or unsaid:
        return say(
            "the known wrong answer to step {step} was caught by {check}, which says: {found}",
            step=trial.step,
            check=failure.id,
            found=finding.found,
        )
    return None


def _first_words(result: StepResult) -> Message:
    for check in result.checks:
        if check.finding is not None:
            return check.finding.found
    for check in result.checks:
        if check.trouble is not None:
            return check.trouble
    return say("no reason is known")
