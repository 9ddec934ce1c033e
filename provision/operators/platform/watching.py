"""Both kinds as kopf watches them: every event is a name to look at, nothing is kept of it.

No handler of kopf's writes to an object: no annotations, no finalizer of its own, no peering.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import kopf

from provision.operators.platform.objects import (
    CLASS_PLURAL,
    GROUP,
    KUEUE_GROUP,
    KUEUE_VERSION,
    PLURAL,
    VERSION,
)

CONNECT_SECONDS = 5.0
EXIT_SECONDS = 10.0
BACKOFFS = (0.1, 0.2, 0.5)
BACKOFF = 1.0


class Patience:
    """Waits between requests of kopf, in seconds, without end: an API server comes back."""

    def __iter__(self) -> Iterator[float]:
        """The waits, shorter ones first."""
        return itertools.chain(BACKOFFS, itertools.repeat(BACKOFF))


def make_settings() -> kopf.OperatorSettings:
    """Settings for a controller alone in its cluster, whose kinds are there when it starts."""
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.posting.enabled = False
    settings.networking.error_backoffs = Patience()
    settings.networking.connect_timeout = CONNECT_SECONDS
    settings.process.ultimate_exiting_timeout = EXIT_SECONDS
    return settings


def make_registry(notice: Callable[[str], None]) -> kopf.OperatorRegistry:
    """Handlers that tell the name of whatever changed."""
    registry = kopf.OperatorRegistry()

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
    @kopf.on.event(KUEUE_GROUP, KUEUE_VERSION, CLASS_PLURAL, registry=registry)
    async def changed(name: str | None, **_: object) -> None:
        if name is not None:
            notice(name)

    @kopf.on.login(registry=registry)
    def login(settings: kopf.OperatorSettings, **_: object) -> kopf.ConnectionInfo | None:
        return kopf.login_with_kubeconfig(settings=settings)

    return registry
