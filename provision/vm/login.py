"""A login on a machine, as HOST names it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from provision.errors import UsageError
from provision.message import say

_HOST = re.compile(r"([\w.-]+)@(\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)(?::(\d{1,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Login:
    """Where to log in, from `user@host[:port]`; `host` is without the brackets of IPv6."""

    user: str
    host: str
    port: int = 22

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}" + ("" if self.port == 22 else f":{self.port}")


def read_login(text: str) -> Login:
    """The parts of HOST. UsageError when it is not so written: it goes into a command line."""
    found = _HOST.fullmatch(text)
    port = int(found.group(3) or 22) if found else 0
    is_sane = found is not None and not found.group(1).startswith("-")
    if found is None or not is_sane or not 0 < port < 65536 or found.group(2).startswith("-"):
        raise UsageError(
            say("HOST is {value}, which is not a login on a machine.", value=text or '""'),
            next_move=say("Write it as in HOST=root@192.0.2.10, or HOST=root@192.0.2.10:2222."),
        )
    return Login(found.group(1), found.group(2).strip("[]"), port)
