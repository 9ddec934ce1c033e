"""Loopback ports: chosen free, kept while free, and held apart until their servers listen.

A port is held by a name in the kernel's abstract socket namespace, which every process of this
network namespace shares and which is gone when its holder is: two places that start at the same
moment never choose the same port, and there is no file to go stale.
"""

from __future__ import annotations

import socket
import zlib
from collections.abc import Iterable, Mapping
from types import TracebackType

from provision.errors import TargetError
from provision.message import say


class PortHolder:
    """Chooses ports and holds them until `release`, or until the end of its `with` block."""

    def __init__(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        self._held: dict[int, socket.socket] = {}

    def __enter__(self) -> PortHolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.release()

    def choose(self, names: Iterable[str], kept: Mapping[str, int], *, seed: str) -> dict[str, int]:
        """A port for every name: the kept one when it is free, else the next free of the range.

        `seed` (the place's path) says where in the range to begin looking, so that places seldom
        meet. Raises TargetError when the range has too few free ports.
        """
        wanted = tuple(names)
        chosen = {n: kept[n] for n in wanted if n in kept and self._hold(kept[n])}
        size = self._last - self._first + 1
        start = zlib.crc32(seed.encode()) % size
        candidates = (self._first + (start + i) % size for i in range(size))
        for name in wanted:
            if name not in chosen:
                chosen[name] = self._next_free(candidates, len(wanted))
        return chosen

    def release(self) -> None:
        """Let go of every port."""
        for holder in self._held.values():
            holder.close()
        self._held.clear()

    def _next_free(self, candidates: Iterable[int], needed: int) -> int:
        for port in candidates:
            if self._hold(port):
                return port
        raise TargetError(
            say(
                "Of the ports {first} to {last} on 127.0.0.1, fewer than {needed} are free.",
                first=self._first,
                last=self._last,
                needed=needed,
            ),
            next_move=say("Stop what uses them, or name another range: LAB_PORTS=30000-31000."),
        )

    def _hold(self, port: int) -> bool:
        """Reserve a port if nobody else holds it and nobody listens on it."""
        if port in self._held:
            return False
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            holder.bind(f"\0gpu-queue-lab-port-{port}")
        except OSError:
            holder.close()
            return False
        if not is_free(port):
            holder.close()
            return False
        self._held[port] = holder
        return True


def is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1 at `port`; TIME_WAIT does not count."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True
