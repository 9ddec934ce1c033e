"""What a person may set from outside, read once from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provision.errors import UsageError
from provision.message import say
from provision.sockets import RUNTIME

APPLICATION = "gpu-queue-lab"
DEFAULT_PORTS = (21000, 28999)


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices that hold for every target; nothing else in `provision` reads the environment.

    `cache` is the folder of built parts; `kueue_version` an override such as "v0.20.3"; `bundle` a
    file of ready-made parts; `parts` are sets of parts to build besides those that are needed, in
    the same pass, "all" for every known one; `ports` the first and last loopback port to
    choose from; `runtime` a folder for sockets when a place lies too deep (the same in every
    session, so that each finds the supervisor);
    `environ` is handed to the Go toolchain and pip, to nothing else.
    """

    cache: Path
    kueue_version: str | None = None
    keep_go_cache: bool = False
    bundle: Path | None = None
    parts: tuple[str, ...] = ()
    ports: tuple[int, int] = DEFAULT_PORTS
    runtime: Path = RUNTIME
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def search_path(self) -> str:
        """PATH, where a Go toolchain is looked for."""
        return self.environ.get("PATH", "")

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Settings:
        """Read LAB_CACHE, KUEUE_VERSION, KEEP_GO_CACHE, BUNDLE, PARTS and LAB_PORTS.

        Raises UsageError when the cache has no place (HOME unset) or a value cannot be meant.
        """
        bundle = env.get("BUNDLE", "").strip()
        return cls(
            cache=_cache_folder(env),
            kueue_version=_kueue_version(env.get("KUEUE_VERSION", "").strip()),
            keep_go_cache=env.get("KEEP_GO_CACHE", "") not in ("", "0"),
            bundle=Path(bundle).absolute() if bundle else None,
            parts=tuple(env.get("PARTS", "").replace(",", " ").split()),
            ports=_ports(env.get("LAB_PORTS", "").strip()),
            environ=dict(env),
        )


def _cache_folder(env: Mapping[str, str]) -> Path:
    if chosen := env.get("LAB_CACHE", "").strip():
        return Path(chosen).absolute()
    if base := env.get("XDG_CACHE_HOME", "").strip():
        return Path(base).absolute() / APPLICATION
    if home := env.get("HOME", "").strip():
        return Path(home).absolute() / ".cache" / APPLICATION
    raise UsageError(
        say("HOME is not set, so there is no folder for the built parts."),
        next_move=say("Set HOME, or name a folder in LAB_CACHE."),
    )


def _kueue_version(text: str) -> str | None:
    if not text:
        return None
    numbers = text.removeprefix("v").split("-")[0].split(".")
    if not text.startswith("v") or len(numbers) != 3 or not all(n.isdigit() for n in numbers):
        raise UsageError(
            say("KUEUE_VERSION is {value}, which is not a version.", value=text),
            next_move=say("Write it as in KUEUE_VERSION=v0.20.3, or leave it out."),
        )
    return text


def _ports(text: str) -> tuple[int, int]:
    if not text:
        return DEFAULT_PORTS
    first, _, last = text.partition("-")
    if first.isdecimal() and last.isdecimal() and 1024 <= int(first) <= int(last) <= 65535:
        return int(first), int(last)
    raise UsageError(
        say("LAB_PORTS is {value}, which is not a range of ports.", value=text),
        next_move=say("Write it as in LAB_PORTS=21000-28999, within 1024 and 65535."),
    )
