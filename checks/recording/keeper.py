"""What the recorder knows of the cluster, and the lines that it writes when that changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from checks.journal import Entry, Journal, stamp
from checks.kit.following import Late
from checks.kit.paths import dig_count, dig_text
from checks.recording.facts import PASSING, facts_of
from checks.watching import Object

KNOWN = "known"
ADDED, MODIFIED, DELETED = "added", "modified", "deleted"


class Keeper:
    """Folds what watches bring into lines of the journal; may be called from several threads.

    Facts count as known only when their line is written. Calls raise OSError when it was not.
    """

    def __init__(self, journal: Journal, now: Callable[[], float] = time.time) -> None:
        self._journal, self._now = journal, now
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], dict[str, object]] = {}
        self._versions: dict[str, str] = {}

    def begin(self, contact: float) -> None:
        """Take up what earlier runs wrote, and note this start; `contact`: their last look."""
        with self._lock:
            for entry in self._journal.begin():
                self._take(entry)
            start = {"event": "started", "seen": stamp(self._now())}
            if contact:
                start["after"] = stamp(contact)
            self._journal.append(start)

    def version(self, kind: str, namespace: str) -> str:
        """The newest resource version written for a kind in a namespace; empty for none."""
        return self._versions.get(f"{kind}/{namespace}", "")

    def see(
        self, kind: str, raw: Object, *, is_gone: bool = False, late: Late | None = None
    ) -> None:
        """Write down an object as it is now, or that it is gone, when that is news."""
        key = (kind, dig_text(raw, "metadata", "uid"))
        facts = facts_of(kind, raw)
        with self._lock:
            known = self._known.get(key)
            if is_gone and known is None:
                return
            if not is_gone and known is not None and _lasting(known["facts"]) == _lasting(facts):
                return
            change = DELETED if is_gone else ADDED if known is None else MODIFIED
            self._put(key, change, _about(kind, raw, facts), late)

    def relist(self, kind: str, namespace: str, items: Iterable[Object], late: Late) -> None:
        """Bring what is known of a kind to a whole list; what is not in it went unseen."""
        chosen = tuple(items)
        there = {dig_text(raw, "metadata", "uid") for raw in chosen}
        with self._lock:
            gone = [
                (key, entry)
                for key, entry in self._known.items()
                if key[0] == kind and entry["namespace"] == namespace and key[1] not in there
            ]
            for key, entry in gone:
                about = {name: entry[name] for name in _ABOUT} | {"version": ""}
                self._put(key, DELETED, about, late)
        for raw in chosen:
            self.see(kind, raw, late=late)

    def beat(self) -> None:
        """Note that everything is seen up to now."""
        with self._lock:
            self._journal.beat()

    def _put(
        self, key: tuple[str, str], change: str, about: Mapping[str, object], late: Late | None
    ) -> None:
        entry: dict[str, object] = {"seen": stamp(self._now()), "change": change, **about}
        if late is not None:
            entry["late"] = True
            if late.after:
                entry["after"] = stamp(late.after)
        if self._journal.is_full():
            self._journal.turn({**known, "change": KNOWN} for known in self._known.values())
        self._journal.append(entry)
        self._take(entry)

    def _take(self, entry: Entry) -> None:
        if "kind" not in entry or not isinstance(entry.get("facts"), dict):
            return
        kind, namespace, uid = (str(entry.get(n, "")) for n in ("kind", "namespace", "uid"))
        if entry.get("change") == DELETED:
            self._known.pop((kind, uid), None)
        else:
            self._known[kind, uid] = dict(entry)
        version = str(entry.get("version", ""))
        place = f"{kind}/{namespace}"
        if version.isdigit() and int(version) > int(self._versions.get(place) or 0):
            self._versions[place] = version


def _lasting(facts: object) -> dict[str, object]:
    kept = facts if isinstance(facts, Mapping) else {}
    return {name: value for name, value in kept.items() if name not in PASSING}


_ABOUT = ("kind", "namespace", "name", "uid", "version", "generation", "created", "facts")


def _about(kind: str, raw: Object, facts: Mapping[str, object]) -> dict[str, object]:
    return {
        "kind": kind,
        "namespace": dig_text(raw, "metadata", "namespace"),
        "name": dig_text(raw, "metadata", "name"),
        "uid": dig_text(raw, "metadata", "uid"),
        "version": dig_text(raw, "metadata", "resourceVersion"),
        "generation": dig_count(raw, "metadata", "generation"),
        "created": dig_text(raw, "metadata", "creationTimestamp"),
        "facts": facts,
    }
