"""What is remembered of a machine that QEMU makes, in `qemu.json` beside its disk."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.files import read_plain, write_atomically
from provision.message import say

FILE = "qemu.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class QemuState:
    """`instance` is new for each disk, `image` is the name in the cache of what it lies over.

    `port` on loopback leads to its sshd, 0 before the first start. `accelerator`, `cpus` and
    `memory` (MiB) are those of the last start. `was_up` says that its first boot was once done.
    """

    instance: str
    image: str
    port: int = 0
    accelerator: str = ""
    cpus: int = 0
    memory: int = 0
    was_up: bool = False


def new_instance() -> str:
    """A name for a machine that cloud-init has not seen yet."""
    return f"gpu-queue-lab-{secrets.token_hex(8)}"


def load_state(folder: Path) -> QemuState | None:
    """The state in `folder`; None without one. TargetError when it is damaged."""
    path = folder / FILE
    try:
        raw = json.loads(read_plain(path))
        if raw.pop("schema") != SCHEMA:
            raise ValueError("an unknown schema")
        state = QemuState(**raw)
        if not (isinstance(state.port, int) and 0 <= state.port < 65536):
            raise ValueError("a port that is none")
        if Path(str(state.image)).name != state.image:
            raise ValueError("an image that is none")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(path) from error
    return state


def save_state(folder: Path, state: QemuState) -> None:
    """Write the state so that a crash leaves the old or the new one."""
    text = json.dumps({"schema": SCHEMA, **asdict(state)}, indent=2, sort_keys=True)
    write_atomically(folder / FILE, text + "\n")


def damaged(path: Path) -> TargetError:
    """The error for a machine of which a part is lost."""
    return TargetError(
        say("The machine cannot be used any more: {path} is missing or damaged.", path=path),
        next_move=say("make destroy removes the machine; make provision TARGET=vm makes it anew."),
    )
