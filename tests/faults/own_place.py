"""A place of a tool's own: nobody's settings, in a temporary LAB_HOME, gone afterwards."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import surroundings_of
from tests.faults.site import Site
from tests.integration.cli import BUILDING, Lab


@contextlib.contextmanager
def own_place(prefix: str) -> Iterator[Site]:
    """A provisioned place with the cache of built parts; destroyed at the end."""
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        lab = Lab(surroundings_of(Path(folder)))
        try:
            lab.done("provision", within=BUILDING)
            yield Site.of(lab)
        finally:
            lab.run("destroy", "--yes")
