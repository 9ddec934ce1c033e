"""Following one kind of object: list, watch, and take up again after whatever ended the watch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from checks.kit.cluster import Kind, Object
from checks.kit.paths import dig_list, dig_text
from checks.kit.stream import ApiStream, Refused, StreamLost

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
# The version is too old, too new, or its kind is gone: begin with a list. All others (a server that
# is still starting answers 403 and 429) leave what is known as it is.
_UNKNOWN = (404, 410, 504)


@dataclass(frozen=True, slots=True)
class Late:
    """Marks what was seen some time after it happened: since `after` (0: unknown) nobody looked."""

    after: float = 0.0


class Watcher(Protocol):
    """Whoever a follower tells; called from the follower's thread."""

    def version(self, kind: str, namespace: str) -> str:
        """The resource version to go on from; empty to begin with a list."""

    def see(
        self, kind: str, raw: Object, *, is_gone: bool = False, late: Late | None = None
    ) -> None:
        """An object as it is now, or that it is gone."""

    def relist(self, kind: str, namespace: str, items: Iterable[Object], late: Late) -> None:
        """All objects of a kind in a namespace (empty: everywhere)."""


class Follower(threading.Thread):
    """One kind in one namespace (empty: in all, or without), followed until `stop` is set.

    `contact` is when the cluster was last seen by an earlier run (0: never). `is_live` tells that
    its watch is open, `trouble` what is in the way; `turned` is called when either has changed.
    While all is well nothing is asked but one watch. Resource versions are compared as numbers, as
    Kubernetes allows (KEP-5504).
    """

    def __init__(
        self,
        stream: ApiStream,
        watcher: Watcher,
        kind: Kind,
        namespace: str,
        *,
        stop: threading.Event,
        log: Callable[[str], None],
        contact: float = 0.0,
        turned: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(name=f"{kind.plural}/{namespace}", daemon=True)
        middle = f"/namespaces/{namespace}" if namespace else ""
        self.path = f"{kind.root}{middle}/{kind.plural}"
        self.is_live = False
        self.trouble = "not asked yet"
        self._stream, self._watcher, self._kind, self._namespace = stream, watcher, kind, namespace
        self._contact, self._stop_event, self._log = contact, stop, log
        self._turned = turned
        self._version = watcher.version(kind.name, namespace)
        self._is_broken = True
        self._pause = FIRST_PAUSE

    def run(self) -> None:
        """Follow until told to stop."""
        while not self._stop_event.is_set():
            try:
                self.follow()
            except Refused as refused:
                if refused.status in _UNKNOWN:
                    self._version = ""
                self._fall_back(refused, is_short=refused.status == 410)
            except (StreamLost, OSError) as lost:
                self._fall_back(lost)

    def follow(self) -> None:
        """One list, when nothing is known to go on from, and one watch to its end."""
        since = self._contact
        late_until = self._catch_up() if self._is_broken or not self._version else 0
        for kind, content in self._stream.watch(self.path, self._version):
            self._settle()
            version = dig_text(content, "metadata", "resourceVersion")
            if kind != "BOOKMARK":
                is_late = version.isdigit() and int(version) <= late_until
                late = Late(since) if is_late else None
                self._watcher.see(self._kind.name, content, is_gone=kind == "DELETED", late=late)
            self._version = version or self._version

    def _catch_up(self) -> int:
        """Ask where the cluster is now: what is older was not seen when it happened."""
        if not self._version:
            answer = self._stream.get(self.path)
            items = [item for item in dig_list(answer, "items") if isinstance(item, Mapping)]
            self._watcher.relist(self._kind.name, self._namespace, items, Late(self._contact))
            self._version = dig_text(answer, "metadata", "resourceVersion")
            self._settle()
            return 0
        answer = self._stream.get(f"{self.path}?limit=1")
        now = dig_text(answer, "metadata", "resourceVersion")
        if now.isdigit() and int(now) < int(self._version):
            raise Refused(410)  # the cluster's data went back in time
        self._settle()
        return int(now) if now.isdigit() else 0

    def _settle(self) -> None:
        self._is_broken = False
        self._contact = time.time()
        self._pause = FIRST_PAUSE
        if not self.is_live:
            self.is_live, self.trouble = True, ""
            self._turned()

    def _fall_back(self, why: Exception, *, is_short: bool = False) -> None:
        is_news = self.is_live or str(why) != self.trouble
        self.is_live, self._is_broken, self.trouble = False, True, str(why)
        if is_news and not self._stop_event.is_set():
            self._log(f"{self.path}: {why}")
            self._turned()
        self._stop_event.wait(FIRST_PAUSE if is_short else self._pause)
        if not is_short:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
