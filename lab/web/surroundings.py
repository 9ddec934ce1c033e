"""What of a person's environment reaches the page, its terminals and the checks it starts.

A list of what is let through, not of what is kept out: a server's own environment may hold tokens
(JPY_API_TOKEN, JUPYTERHUB_API_TOKEN), and nobody knows the names of all secrets.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "LANG"),
        *("EDITOR", "VISUAL", "PAGER", "LESS", "LS_COLORS"),
        *("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
        *("LAB", "LAB_HOME", "LAB_WORKSPACE", "LAB_CACHE", "LAB_LANG", "LAB_PORTS", "TARGET"),
    }
)
PREFIXES = ("LC_",)


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables that are let through; a UTF-8 locale is put in where there is none."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in NAMES or name.startswith(PREFIXES)
    }
    in_force = kept.get("LC_ALL") or kept.get("LC_CTYPE") or kept.get("LANG") or ""
    if not in_force.upper().replace("-", "").endswith("UTF8"):
        kept["LC_ALL"] = "C.UTF-8"  # without it bash and tmux drop what is not ASCII
    return kept
