from __future__ import annotations

from pathlib import Path

import pytest

from provision.errors import UsageError
from provision.settings import Settings


@pytest.mark.parametrize(
    ("env", "cache"),
    [
        ({"HOME": "/h"}, "/h/.cache/gpu-queue-lab"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/gpu-queue-lab"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x", "LAB_CACHE": "/c"}, "/c"),
        ({"LAB_CACHE": "/c"}, "/c"),
    ],
)
def test_cache_folder(env: dict[str, str], cache: str):
    assert Settings.from_environment(env).cache == Path(cache)


def test_no_home_is_one_clear_sentence():
    with pytest.raises(UsageError, match="HOME is not set") as caught:
        Settings.from_environment({})
    assert "LAB_CACHE" in str(caught.value.next_move)


@pytest.mark.parametrize("value", ["0.20.3", "v0.20", "latest", "v0.x.1", "v0.20.3; rm"])
def test_wrong_kueue_version(value: str):
    with pytest.raises(UsageError, match="is not a version"):
        Settings.from_environment({"HOME": "/h", "KUEUE_VERSION": value})


def test_right_kueue_versions():
    for value in ("v0.20.3", "v0.21.0-rc.3"):
        assert (
            Settings.from_environment({"HOME": "/h", "KUEUE_VERSION": value}).kueue_version == value
        )


@pytest.mark.parametrize("value", ["1", "1-2", "5000-4000", "a-b", "30000-70000"])
def test_wrong_ports(value: str):
    with pytest.raises(UsageError, match="not a range"):
        Settings.from_environment({"HOME": "/h", "LAB_PORTS": value})


def test_the_other_choices():
    env = {"HOME": "/h", "KEEP_GO_CACHE": "1", "BUNDLE": "/b.tar", "PARTS": "all"}
    settings = Settings.from_environment({**env, "LAB_PORTS": "30000-30100"})
    assert settings.keep_go_cache
    assert settings.bundle == Path("/b.tar")
    assert settings.parts == ("all",)
    assert settings.ports == (30000, 30100)
    assert not Settings.from_environment({"HOME": "/h", "KEEP_GO_CACHE": "0"}).keep_go_cache


def test_some_parts():
    settings = Settings.from_environment({"HOME": "/h", "PARTS": "jobset, trainer"})
    assert settings.parts == ("jobset", "trainer")
    assert Settings.from_environment({"HOME": "/h"}).parts == ()
