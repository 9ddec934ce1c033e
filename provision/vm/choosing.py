"""What a place was brought up with, and what is asked for now, which must fit it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from provision.errors import UsageError
from provision.files import write_atomically
from provision.message import say
from provision.vm.machine import FOLDER, load_machine
from provision.vm.settings import LANGUAGES, PROVIDERS, VmSettings

_FILE = "choices.json"


@dataclass(frozen=True, slots=True)
class Choices:
    """`maker` is the way of getting the machine, `gpus` the provider, `bundle` a path or "".

    `language` is what the lab in the machine speaks by itself: that of the first time, since it is
    a wish of the reader, for which a machine is not changed.
    """

    maker: str = ""
    gpus: str = ""
    bundle: str = ""
    language: str = ""


def choose(home: Path, settings: VmSettings) -> Choices:
    """What this run uses: what is said now, else what was used before, else the default.

    UsageError when another way of getting a machine is asked for than the place's machine came by.
    """
    kept = kept_choices(home)
    found = load_machine(home)
    made = found[0] if found is not None else ""
    wanted = settings.maker
    if made and wanted not in ("", made):
        raise UsageError(
            say(
                "The machine of this place came by VM={made}, not by VM={wanted}.",
                made=made,
                wanted=wanted,
            ),
            next_move=say("Leave VM out, or remove the place first: make destroy."),
        )
    by_host = "ssh" if "@" in settings.ssh.host else "qemu"
    bundle = str(settings.bundle or "")
    if not bundle and kept.bundle and Path(kept.bundle).is_dir():
        bundle = kept.bundle
    return Choices(
        maker=made or wanted or by_host,
        gpus=settings.gpus or kept.gpus or PROVIDERS[0],
        bundle=bundle,
        language=kept.language if kept.language in LANGUAGES else settings.language,
    )


def kept_choices(home: Path) -> Choices:
    """What the place was brought up with; empty when that is not known."""
    try:
        raw = json.loads((home / FOLDER / _FILE).read_text("utf-8"))
        return Choices(**{name: str(value) for name, value in raw.items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return Choices()


def keep_choices(home: Path, choices: Choices) -> None:
    """Remember them for the runs to come."""
    (home / FOLDER).mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(home / FOLDER / _FILE, json.dumps(asdict(choices), indent=2) + "\n")
