"""Following one kind of object: list, watch, and take up again after whatever ended the watch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from checks.kit.cluster import Kind
from checks.kit.paths import dig_list, dig_text
from checks.kit.stream import ApiStream, Refused, StreamLost
from checks.recording.keeper import Keeper, Late

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
# The version is too old, too new, or its kind is gone: begin with a list. All others (a server that
# is still starting answers 403 and 429) leave what is known as it is.
_UNKNOWN = (404, 410, 504)


class Follower(threading.Thread):
    """One kind in one namespace (empty: without), followed until `stop` is set.

    `contact` is when the cluster was last seen by an earlier run (0: never). `is_live` tells that
    its watch is open, `trouble` what is in the way. Resource versions are compared as numbers, as
    Kubernetes allows (KEP-5504).
    """

    def __init__(
        self,
        stream: ApiStream,
        keeper: Keeper,
        kind: Kind,
        namespace: str,
        *,
        contact: float,
        stop: threading.Event,
        log: Callable[[str], None],
    ) -> None:
        super().__init__(name=f"{kind.plural}/{namespace}", daemon=True)
        middle = f"/namespaces/{namespace}" if namespace else ""
        self.path = f"{kind.root}{middle}/{kind.plural}"
        self.is_live = False
        self.trouble = "not asked yet"
        self._stream, self._keeper, self._kind, self._namespace = stream, keeper, kind, namespace
        self._contact, self._stop_event, self._log = contact, stop, log
        self._version = keeper.version(kind.name, namespace)
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
                self._keeper.see(self._kind.name, content, is_gone=kind == "DELETED", late=late)
            self._version = version or self._version

    def _catch_up(self) -> int:
        """Ask where the cluster is now: what is older was not seen when it happened."""
        if not self._version:
            answer = self._stream.get(self.path)
            items = [item for item in dig_list(answer, "items") if isinstance(item, Mapping)]
            self._keeper.relist(self._kind.name, self._namespace, items, Late(self._contact))
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
        if not self.is_live:
            self.is_live, self.trouble = True, ""
        self._is_broken = False
        self._contact = time.time()
        self._pause = FIRST_PAUSE

    def _fall_back(self, why: Exception, *, is_short: bool = False) -> None:
        if self.is_live or str(why) != self.trouble:
            self._log(f"{self.path}: {why}")
        self.is_live, self._is_broken, self.trouble = False, True, str(why)
        self._stop_event.wait(FIRST_PAUSE if is_short else self._pause)
        if not is_short:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
