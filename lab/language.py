"""Which language the reader has. Nothing but the standard library: `make help` needs it, too."""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "ko")


def choose_language(environment: Mapping[str, str]) -> str:
    """`LAB_LANG`, else the locale as POSIX reads it (LC_ALL, LC_MESSAGES, LANG), else English."""
    for key in ("LAB_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(key, "")
        if value:
            language = value.replace("-", "_").split("_")[0].split(".")[0].lower()
            return language if language in LANGUAGES else "en"
    return "en"
