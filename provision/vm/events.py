"""What ansible-runner's events say: one line for each task, and the failure in plain words.

Kinds and fields of the events were read off real runs (tests/unit/vm/data). Pure: no I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LONGEST = 500
_UNTOLD = "Validating arguments against arg spec"  # Ansible's own, before each role
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FAILED = ("runner_on_failed", "runner_on_unreachable")
_MODULE_FAILURE = "MODULE FAILURE"
_NOTHING = ("", "non-zero return code", "One or more items failed", "All items completed")
# Nothing that Ansible adds around the words of a module.
_WRAPPING = re.compile(
    r"^(?:Task failed: |Action failed: |Module failed: |Unexpected \w+ error: |"
    r"Failed to connect to the host via ssh: |ssh: )+"
)
NO_ROOM = ("No space left on device", "Disk quota exceeded")
# Where Ansible cannot write on a machine it calls that unreachable, too.
_REACHED = (*NO_ROOM, "create temporary directory")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a play ended early: `task` as "role: task", `cause` in the words of what failed.

    A role's own `fail` may name the next move in its message, behind "Next:"; else that is empty.
    """

    task: str
    host: str
    cause: str
    is_unreachable: bool
    next_move: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One task that ended and was not skipped: `seconds` it took, and if it changed something."""

    task: str
    seconds: float
    is_changed: bool


@dataclass(slots=True)
class Course:
    """The course of one run, from its events in their order."""

    current: str = ""
    failure: Failure | None = None
    changes: int = 0
    is_complete: bool = False
    is_failed: bool = False
    roles: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    kept: str | None = None  # where the lab in the machine says that a reset keeps the files

    def take(self, event: Mapping[str, Any]) -> Line | None:
        """Take in one event; the line of a task, when one ended with it. Anything else is None."""
        kind, data = str(event.get("event", "")), event.get("event_data")
        facts: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        if kind in ("playbook_on_task_start", "playbook_on_handler_task_start"):
            is_told = not str(facts.get("task", "")).startswith(_UNTOLD)
            self.current = _name(facts) if is_told else ""
        elif kind == "runner_on_ok":
            return self._ended(facts)
        elif kind == "runner_on_skipped":
            self.current = ""
        elif kind in _FAILED:
            self._failed(facts, is_unreachable=kind == _FAILED[1])
        elif kind == "playbook_on_stats":
            self.is_complete = True
            self.is_failed = bool(facts.get("failures") or facts.get("dark"))
            self.changes = sum(_counts(facts.get("changed")))
        elif kind in ("verbose", "error", "warning", "deprecated"):
            self._spoke(str(event.get("stdout", "")))
        return None

    def _ended(self, facts: Mapping[str, Any]) -> Line | None:
        result = facts.get("res")
        is_changed = isinstance(result, Mapping) and result.get("changed") is True
        if isinstance(result, Mapping):
            self.kept = _kept(result) or self.kept
        seconds = _seconds(facts)
        role = str(facts.get("role") or "")
        if role:
            self.roles[role] = self.roles.get(role, 0.0) + seconds
        self.current = ""
        if str(facts.get("task", "")).startswith(_UNTOLD):
            return None
        return Line(_name(facts), seconds, is_changed)

    def _failed(self, facts: Mapping[str, Any], *, is_unreachable: bool) -> None:
        """The last one counts: an earlier one was rescued, or the play had ended with it."""
        self.current = ""
        if facts.get("ignore_errors") is True:
            return
        result = facts.get("res")
        cause = cause_of(result if isinstance(result, Mapping) else {})
        cause, _, move = cause.partition("Next:")
        self.failure = Failure(
            task=_name(facts),
            host=str(facts.get("host", "")),
            cause=cause.strip().rstrip("."),
            is_unreachable=is_unreachable and not any(sign in cause for sign in _REACHED),
            next_move=move.strip(),
        )

    def _spoke(self, text: str) -> None:
        for line in _COLOUR.sub("", text).splitlines():
            if "[ERROR]" in line or line.startswith("ERROR!"):
                self.errors.append(_shortened(line.partition("]: ")[2] or line))
            elif "[WARNING]" in line:
                self.warnings.append(_shortened(line.partition("]: ")[2] or line))


def cause_of(result: Mapping[str, Any]) -> str:
    """The cause that a task's result tells: of the first item that failed, else of the whole."""
    if "censored" in result:
        return "its result is kept secret (no_log)"
    items = result.get("results")
    if isinstance(items, Sequence) and not isinstance(items, str):
        for item in items:
            if isinstance(item, Mapping) and True in (item.get("failed"), item.get("unreachable")):
                return cause_of(item)
    for text in _words(result):
        return _shortened(text)
    return "it gave no reason"


def _words(result: Mapping[str, Any]) -> Iterator[str]:
    """What may hold the cause, the most telling first."""
    message = _WRAPPING.sub("", str(result.get("msg", "")).strip())
    if message not in _NOTHING and not message.startswith(_MODULE_FAILURE):
        yield message
    for key in ("stderr", "module_stderr", "stdout", "module_stdout"):
        if text := str(result.get(key, "")).strip():
            yield text.splitlines()[-1] if key.startswith("module") else text
    if "rc" in result:
        command = result.get("cmd")
        named = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
        yield f"exit code {result['rc']}" + (f" of {named}" if named else "")
    if message:
        yield message


def _kept(result: Mapping[str, Any]) -> str | None:
    """The folder that `lab here reset` answers with; None for any other task, or without files."""
    text = str(result.get("stdout", "")).strip()
    if not text.startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    kept = answer.get("kept") if answer.keys() == {"kept"} else None
    return kept if isinstance(kept, str) else None


def _name(facts: Mapping[str, Any]) -> str:
    task, role = str(facts.get("task") or "?"), str(facts.get("role") or "")
    # Ansible puts the role before the name in some events: "k3s : Lay the binary".
    task = task.removeprefix(f"{role} : ") if role else task
    return f"{role}: {task}" if role else task


def _seconds(facts: Mapping[str, Any]) -> float:
    found = facts.get("duration")
    return float(found) if isinstance(found, int | float) else 0.0


def _counts(found: object) -> Iterator[int]:
    if isinstance(found, Mapping):
        yield from (count for count in found.values() if isinstance(count, int))


def _shortened(text: str) -> str:
    """On one line, and not too long: its beginning says what, its end often why."""
    line = " ".join(_COLOUR.sub("", text).split())
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"
