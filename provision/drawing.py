"""A word that differs from place to place, and after a reset: drawn from the cluster's life."""

from __future__ import annotations

import hashlib
from pathlib import Path

from provision.state import LIFE_FILE

_FIRST = (
    *("amber", "birch", "coral", "dusky", "early", "fleet", "grand", "hazel"),
    *("ivory", "jolly", "lunar", "maple", "noble", "ochre", "plain", "quiet"),
    *("rapid", "sandy", "tidal", "upper", "vivid", "windy", "young", "zesty"),
    *("brisk", "civic", "frosty", "gentle", "humble", "mellow", "rustic", "silver"),
)
_SECOND = (
    *("anchor", "bridge", "candle", "desert", "engine", "forest", "garden", "harbor"),
    *("island", "jacket", "kettle", "ladder", "meadow", "needle", "orchard", "pebble"),
    *("quarry", "ribbon", "saddle", "temple", "valley", "willow", "anvil", "beacon"),
    *("canyon", "dagger", "falcon", "glacier", "lantern", "mirror", "pillar", "thicket"),
)


def drawn_word(home: Path) -> str:
    """Two English words joined by a dash, the same as long as the cluster of `home` lives.

    They come from `cluster.id` (see `provision.state.ensure_life`); where that cannot be read
    they are the same two everywhere.
    """
    try:
        life = (home / LIFE_FILE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        life = ""
    digest = hashlib.sha256(life.encode()).digest()
    return f"{_FIRST[digest[0] % len(_FIRST)]}-{_SECOND[digest[1] % len(_SECOND)]}"
