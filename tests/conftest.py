"""What all tests share: surroundings in which a place of their own can be brought up."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from provision.settings import Settings

pytest_plugins = ["tests.sharing", "tests.telling"]

KEPT = (
    *("PATH", "TMPDIR", "XDG_RUNTIME_DIR", "GOPROXY", "GOSUMDB", "SSL_CERT_FILE", "BUNDLE"),
    *("NPM_CONFIG_REGISTRY", "NPM_CONFIG_USERCONFIG", "NODE_EXTRA_CA_CERTS"),
)

Surroundings = Callable[[Path], Mapping[str, str]]


def surroundings_of(home: Path) -> Mapping[str, str]:
    """An environment for one LAB_HOME: nobody's own settings, but the cache of built parts.

    HOME is a folder beside the places, so that nothing in a real home is read or written.
    """
    person = home / "person"
    person.mkdir(parents=True, exist_ok=True)
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(person),
        "LAB_HOME": str(home),
        "LAB_CACHE": str(Settings.from_environment(os.environ).cache),
        "LAB_LANG": "en",
        "LC_ALL": "C.UTF-8",
        "KEEP_GO_CACHE": "1",
    }


@pytest.fixture(scope="session")
def surroundings() -> Surroundings:
    """Makes an environment for one LAB_HOME."""
    return surroundings_of
