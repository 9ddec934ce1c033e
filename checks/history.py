"""What the recorder wrote down, typed: which objects changed how, in the order of the cluster.

Two changes are compared by resource version: all kinds of one cluster share one count (etcd's
revision; comparing is sound since KEP-5504). A change that nobody saw has version 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from checks.journal import Entry, parse, read_life, read_lines
from checks.kit.paths import dig, dig_list, dig_map, dig_text, dig_texts
from checks.watching import Condition


@dataclass(frozen=True, slots=True)
class Change:
    """One object as it was from a moment on. `what`: added, modified, deleted, or known before.

    `seen` is when the recorder saw it, RFC 3339; with `is_late` it had happened before that, but
    not before `after` (empty: unknown). `facts` are those of `checks.recording.facts`.
    """

    seen: str
    what: str
    kind: str
    namespace: str
    name: str
    uid: str
    version: int
    created: str
    facts: Mapping[str, object]
    is_late: bool = False
    after: str = ""

    @property
    def is_gone(self) -> bool:
        """The object is deleted."""
        return self.what == "deleted"

    @property
    def deleting(self) -> str:
        """Since when it is being deleted, RFC 3339; empty when it is not."""
        return dig_text(self.facts, "deleting")

    @property
    def owner(self) -> str:
        """The name of the Job that a pod or Workload belongs to."""
        return dig_text(self.facts, "owner")

    @property
    def queue(self) -> str:
        """The LocalQueue that a Job or Workload names."""
        return dig_text(self.facts, "queue")

    @property
    def gates(self) -> tuple[str, ...]:
        """The scheduling gates of a pod."""
        return tuple(str(one) for one in dig_list(self.facts, "gates"))

    def condition(self, kind: str) -> Condition | None:
        """One of its conditions."""
        parts = [str(part) for part in dig_list(self.facts, "conditions", kind)]
        if len(parts) != 4:
            return None
        status, reason, since, message = parts
        return Condition(kind, status, reason, message, since, 0)

    def is_true(self, kind: str) -> bool:
        """It has that condition, and it is True."""
        condition = self.condition(kind)
        return condition is not None and condition.is_true

    @property
    def holds_quota(self) -> bool:
        """A Workload that has quota, has not ended and is not on its way out."""
        is_ending = self.is_gone or bool(self.deleting) or self.is_true("Finished")
        return self.is_true("QuotaReserved") and not is_ending

    def amounts(self, *path: str) -> Mapping[str, str]:
        """A map of amounts among its facts, such as `quota` or `reserved`."""
        return dig_texts(self.facts, *path)

    def count(self, name: str) -> int:
        """A number among its facts, 0 when there is none."""
        value = dig(self.facts, name)
        return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True)
class Start:
    """The recorder was started at `seen`; before that nobody looked since `after` (empty: ever)."""

    seen: str
    after: str


class History:
    """All that is on record of the cluster's present life; read when it is first asked for."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    @cached_property
    def _lines(self) -> tuple[bytes, ...]:
        if self._file is None:
            return ()
        return tuple(read_lines(self._file, read_life(self._file)))

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Every change, in the order in which it was written."""
        return tuple(_change(entry) for line in self._lines if "kind" in (entry := parse(line)))

    @property
    def starts(self) -> tuple[Start, ...]:
        """When the recorder was started."""
        found = [parse(line) for line in self._lines if b'"event":"started"' in line]
        return tuple(Start(dig_text(e, "seen"), dig_text(e, "after")) for e in found if e)

    def of(
        self, kind: str, *, name: str = "", uid: str = "", owner: str = "", owner_uid: str = ""
    ) -> tuple[Change, ...]:
        """The changes of a kind: of one name, of one object, or of what a Job owns.

        Jobs of one `owner` name may have come and gone; `owner_uid` means one of them.

        Only lines that hold these words are parsed: a check must not wait for a long history.
        """
        wanted = {"kind": kind, "name": name, "uid": uid, "owner": owner, "owner_uid": owner_uid}
        words = [f'"{key}":"{value}"'.encode() for key, value in wanted.items() if value]
        lines = [line for line in self._lines if all(word in line for word in words)]
        found = (_change(entry) for line in lines if (entry := parse(line)))
        return tuple(
            c
            for c in found
            if c.kind == kind
            and name in ("", c.name)
            and uid in ("", c.uid)
            and owner in ("", c.owner)
            and owner_uid in ("", dig_text(c.facts, "owner_uid"))
        )

    def when(self, moment: float, kind: str, name: str) -> Change | None:
        """How the object of that name was at a time in seconds since the epoch."""
        known = [c for c in self.of(kind, name=name) if seconds(c.seen) <= moment]
        return known[-1] if known and not known[-1].is_gone else None


def newest(changes: Iterable[Change], version: int) -> Change | None:
    """The last of the changes up to a version of the cluster; None when there is none."""
    known = [change for change in changes if 0 < change.version <= version]
    return max(known, key=lambda change: change.version, default=None)


def seconds(time: str) -> float:
    """An RFC 3339 time as seconds since the epoch; 0 when it is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def _change(entry: Entry) -> Change:
    version = dig_text(entry, "version")
    return Change(
        seen=dig_text(entry, "seen"),
        what=dig_text(entry, "change"),
        kind=dig_text(entry, "kind"),
        namespace=dig_text(entry, "namespace"),
        name=dig_text(entry, "name"),
        uid=dig_text(entry, "uid"),
        version=int(version) if version.isdigit() else 0,
        created=dig_text(entry, "created"),
        facts=dig_map(entry, "facts"),
        is_late=entry.get("late") is True,
        after=dig_text(entry, "after"),
    )
