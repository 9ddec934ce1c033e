"""The request file that says what to judge: read strictly, once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from checks.outcome import Evidence, evidence_from_json
from provision.target import TargetInfo

REQUEST_SCHEMA = 1
_KEYS = {"schema", "lab", "step", "facts", "target", "within", "credit", "history", "news"}
_TARGET_KEYS = {
    *("name", "lab", "host", "kubeconfig", "grader_kubeconfig", "workspace", "versions"),
}


class BadRequest(ValueError):
    """The request file is not one that this version writes."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to judge and where. `within`: seconds that the checks may spend waiting in all.

    `credit` holds the evidence of the newest pass of each step passed before, `history` is the
    recorder's file (None where there is no recorder), `news` the file where the run tells how far
    it is (None: nobody listens).
    """

    lab: str
    step: int
    facts: Mapping[str, object]
    target: TargetInfo
    within: float
    credit: Mapping[int, tuple[Evidence, ...]]
    history: Path | None = None
    news: Path | None = None


def read_request(path: Path) -> Request:
    """The request in a file; BadRequest names what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path}: {error}") from error
    shape = _mapping(data, "request")
    _only(shape, _KEYS, "request")
    if shape.get("schema") != REQUEST_SCHEMA:
        raise BadRequest(f"schema {shape.get('schema')!r} is not {REQUEST_SCHEMA}")
    step, within = shape.get("step"), shape.get("within")
    if not isinstance(step, int) or isinstance(step, bool):
        raise BadRequest("step must be a whole number")
    if not isinstance(within, int | float) or not 0 <= within <= 600:
        raise BadRequest("within must be seconds, 0 to 600")
    return Request(
        lab=_text(shape, "lab"),
        step=step,
        facts=_mapping(shape.get("facts"), "facts"),
        target=_read_target(_mapping(shape.get("target"), "target")),
        within=float(within),
        credit=_read_credit(_mapping(shape.get("credit"), "credit")),
        history=Path(_text(shape, "history")) if shape.get("history") else None,
        news=Path(_text(shape, "news")) if shape.get("news") else None,
    )


def _read_target(shape: Mapping[str, object]) -> TargetInfo:
    _only(shape, _TARGET_KEYS, "target")
    versions = _mapping(shape.get("versions"), "target.versions")
    return TargetInfo(
        name=_text(shape, "name"),
        lab=_text(shape, "lab"),
        kubeconfig=Path(_text(shape, "kubeconfig")),
        grader_kubeconfig=Path(_text(shape, "grader_kubeconfig")),
        workspace=Path(_text(shape, "workspace")),
        host=_text(shape, "host"),
        versions={key: _text(versions, key) for key in versions},
    )


def _read_credit(shape: Mapping[str, object]) -> Mapping[int, tuple[Evidence, ...]]:
    credit = {}
    for number, entry in shape.items():
        fields = _mapping(entry, f"credit.{number}")
        _only(fields, {"passed_at", "evidence"}, f"credit.{number}")
        items = fields.get("evidence")
        if not number.isdigit() or not isinstance(items, list):
            raise BadRequest(f"credit.{number} must hold a list of evidence")
        try:
            credit[int(number)] = tuple(evidence_from_json(item) for item in items)
        except ValueError as error:
            raise BadRequest(f"credit.{number}: {error}") from error
    return credit


def _mapping(data: object, where: str) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise BadRequest(f"{where} must be an object")
    return data


def _only(shape: Mapping[str, object], known: set[str], where: str) -> None:
    if unknown := sorted(set(shape) - known):
        raise BadRequest(f"{where} holds unknown keys: {', '.join(unknown)}")


def _text(shape: Mapping[str, object], key: str) -> str:
    value = shape.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{key} must be a text")
    return value
