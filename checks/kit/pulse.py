"""Whether the API server is still there: a watch is silent at rest, and silent when it hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from checks.kit.stream import ApiStream, StreamLost

REST_SECONDS, ANXIOUS_SECONDS = 5.0, 1.0  # between two looks while all is well, and while not
REACH_SECONDS = 4.0


class Pulse(threading.Thread):
    """Connects now and then until `stop` is set, and asks nothing.

    `trouble` is what is in the way, empty when nothing is; `turned` is called when it has changed.
    """

    def __init__(
        self, stream: ApiStream, *, stop: threading.Event, turned: Callable[[], None]
    ) -> None:
        super().__init__(name="pulse", daemon=True)
        self.trouble = ""
        self._stream, self._stop_event, self._turned = stream, stop, turned

    def run(self) -> None:
        """Look until told to stop."""
        while not self._stop_event.wait(ANXIOUS_SECONDS if self.trouble else REST_SECONDS):
            before, self.trouble = self.trouble, self._look()
            if self.trouble != before and not self._stop_event.is_set():
                self._turned()

    def _look(self) -> str:
        try:
            self._stream.reach(REACH_SECONDS)
        except StreamLost as lost:
            return str(lost)
        return ""
