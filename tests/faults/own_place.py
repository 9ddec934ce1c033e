"""A place of a tool's own: nobody's settings, in a temporary LAB_HOME, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from provision.settings import Settings
from tests.conftest import KEPT
from tests.faults.site import Site
from tests.integration.cli import Lab

BUILDING = 1800.0  # seconds: the parts are built when no cache has them yet


@contextlib.contextmanager
def own_place(prefix: str) -> Iterator[Site]:
    """A provisioned place with the cache of built parts; destroyed at the end."""
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        lab = Lab(_surroundings(Path(folder)))
        try:
            lab.done("provision", within=BUILDING)
            yield Site.of(lab)
        finally:
            lab.run("destroy", "--yes")


def _surroundings(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    cache = str(Settings.from_environment(os.environ).cache)
    person = home / "person"
    person.mkdir()
    own = {"HOME": str(person), "LAB_HOME": str(home), "LAB_CACHE": cache}
    return {**kept, **own, "LAB_LANG": "en", "LC_ALL": "C.UTF-8", "KEEP_GO_CACHE": "1"}
