"""One run of a step's checks: what they share, and what came of each."""

from __future__ import annotations

import json
import os
import string
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from checks.kit.cluster import Cluster
from checks.kit.expect import Patience, cut, plain
from checks.kit.files import Files
from checks.kit.host import Workplace
from checks.news import CheckNews, append_line, news_to_json
from checks.outcome import (
    CannotTell,
    CheckResult,
    Evidence,
    Mismatch,
    Outcome,
    StepResult,
    result_to_json,
)
from checks.request import Request
from provision.message import Message, say


class Grader:
    """Collects the outcomes of one run and writes them when it ends."""

    def __init__(self, request: Request, result: Path | None) -> None:
        self.request = request
        self.cluster = Cluster(request.target.grader_kubeconfig)
        self.patience = Patience(request.within)
        self.files = Files(Workplace(request.target.host, request.target.workspace))
        self.evidence: list[Evidence] = []
        self.remarks: list[Message] = []
        self.is_past = False
        self._result = result
        self._began = time.monotonic()
        self._checks: dict[str, CheckResult] = {}
        self._needs: dict[str, tuple[str, ...]] = {}
        self._names = dict(_flatten(request.facts))

    def expect(self, name: str, doc: str, needs: tuple[str, ...], *, is_transient: bool) -> None:
        """Note a check that will run. Until then it counts as not judged."""
        self._needs[name] = needs
        self._checks[name] = CheckResult(
            id=name,
            title=self._title(doc),
            outcome=Outcome.ERROR,
            trouble=say("the check did not run"),
            is_transient=is_transient,
        )

    def mark_past(self, why: Message) -> None:
        """Note that what the running check passes for was true before, and what has replaced it.

        What several checks say alike is told once.
        """
        self.is_past = True
        if str(why) not in map(str, self.remarks):
            self.remarks.append(why)

    def start(self, name: str) -> str | None:
        """Begin a check; the id of the first check it needs that did not pass, None when none."""
        self.evidence.clear()
        self.is_past = False
        for needed in self._needs[name]:
            if self._checks[needed].outcome is not Outcome.PASSED:
                trouble = say("waiting for: {title}", title=self._checks[needed].title)
                self._set(name, outcome=Outcome.SKIPPED, trouble=trouble)
                self._tell(name, Outcome.SKIPPED)
                return needed
        self._tell(name, None)
        return None

    def finish(self, name: str, error: BaseException | None) -> None:
        """Note what a check raised, None when it ended well."""
        if error is None:
            self._set(
                name,
                outcome=Outcome.PASSED,
                evidence=tuple(self.evidence),
                trouble=None,
                is_past=self.is_past,
            )
        elif isinstance(error, Mismatch):
            self._set(name, outcome=Outcome.FAILED, finding=error.finding, trouble=None)
        elif isinstance(error, CannotTell):
            self._set(name, outcome=Outcome.ERROR, trouble=error.what, next_move=error.next_move)
        else:
            self._set(name, outcome=Outcome.ERROR, trouble=_honest_line(error), next_move=_REPORT)
        self._tell(name, self._checks[name].outcome)

    def spoil(self, file: str, why: str) -> None:
        """Note that a file of checks could not be loaded."""
        self._checks[f"load:{file}"] = CheckResult(
            id="load",
            title=say("the checks of this step can be loaded"),
            outcome=Outcome.ERROR,
            trouble=say("{file} could not be loaded ({why})", file=file, why=plain(cut(why, 100))),
            next_move=_REPORT,
        )

    def write(self) -> None:
        """Put the result file in its place at once, whole or not at all."""
        if self._result is None:
            return
        outcome = StepResult(
            step=self.request.step,
            checks=tuple(self._checks.values()),
            requests=self.cluster.requests,
            seconds=round(time.monotonic() - self._began, 3),
            remarks=tuple(self.remarks),
        )
        part = self._result.with_name(f"{self._result.name}.{os.getpid()}")
        text = json.dumps(result_to_json(outcome), ensure_ascii=False)
        part.write_text(text, encoding="utf-8", errors="replace")  # half characters become "?"
        part.replace(self._result)

    def _set(self, name: str, **changes: object) -> None:
        self._checks[name] = replace(self._checks[name], **changes)  # type: ignore[arg-type]

    def _tell(self, name: str, outcome: Outcome | None) -> None:
        if self.request.news is None:
            return
        index = list(self._checks).index(name) + 1
        title, seconds = self._checks[name].title, time.monotonic() - self._began
        news = CheckNews(name, title, index, len(self._checks), outcome, seconds)
        append_line(self.request.news, news_to_json(news))

    def _title(self, doc: str) -> Message:
        template = " ".join(doc.strip().split("\n\n")[0].split()).removesuffix(".")
        fields = [name for _, name, _, _ in string.Formatter().parse(template) if name]
        return Message(template, {name: self._names[name] for name in fields})


_REPORT = say("this is no fault of your work; report it with the output of make check")


def _flatten(facts: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names for titles: `{waiting_job}` is its name, `{waiting_job_file}` its file."""
    for key, value in facts.items():
        if isinstance(value, Mapping):
            if "name" in value:
                yield prefix + key, str(value["name"])
            yield from _flatten(value, f"{prefix}{key}_")
        else:
            yield prefix + key, str(value)


def _honest_line(error: BaseException) -> Message:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_HERE)]
    if own:
        where = f"{Path(own[-1].filename).relative_to(_HERE)}:{own[-1].lineno}"
    return say(
        "{kind} in the check, at {where}: {text}",
        kind=type(error).__name__,
        where=where,
        text=plain(cut(str(error), 100)),
    )


_HERE = Path(__file__).parent
