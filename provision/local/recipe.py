"""What is to be built, exactly, and the key under which the result is kept. No building here."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from provision.errors import TargetError
from provision.local.components import DATA, BuildPart, Inventory, PartSet
from provision.message import say
from provision.versions import KUEUE, module_versions, tool_packages, version_numbers

MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
FLAGS = ("-trimpath", "-buildvcs=false", "-mod=readonly")
STRIP = "-s -w"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One set of parts: its module files, what Go is told, and the key of all that.

    `go_folder` holds go.mod and go.sum; `link_flags` maps a part to what the linker is told, with
    the versions that programs look up in themselves; `versions` maps a part to its version.
    """

    set: PartSet
    go_folder: Path
    platform: str
    link_flags: Mapping[str, str]
    versions: Mapping[str, str]
    key: str


def this_platform(system: str = "", machine: str = "") -> str:
    """Such as "linux/amd64"; TargetError where the lab cannot run."""
    system = system or sys.platform
    machine = (machine or platform.machine()).lower()
    if system != "linux" or machine not in MACHINES:
        raise TargetError(
            say(
                "The local target runs on Linux x86-64 and arm64; this is {os} {cpu}.",
                os=system,
                cpu=machine,
            ),
            next_move=say("Use a Linux machine or a Linux virtual machine."),
        )
    return f"linux/{MACHINES[machine]}"


def make_recipe(
    inventory: Inventory, chosen: PartSet, platform_name: str, go_folder: Path | None = None
) -> Recipe:
    """The recipe of a set; TargetError when go.mod does not know one of its packages.

    `go_folder` is where go.mod is when it is not the one that the set names.
    """
    go_folder = go_folder or DATA / chosen.go
    go_mod = (go_folder / "go.mod").read_text("utf-8")
    modules, tools = module_versions(go_mod), tool_packages(go_mod)
    for part in chosen.build:
        if part.package not in tools or part.module not in modules:
            raise TargetError(say("go.mod has no tool {package}.", package=part.package))
    versions = {part.name: modules[part.module] for part in chosen.build}
    link_flags = {part.name: _link_flags(part, inventory, modules) for part in chosen.build}
    manifests = sorted(f"{m.module} {m.glob}" for m in chosen.manifests)
    content = {
        "go.mod": go_mod,
        "go.sum": (go_folder / "go.sum").read_text("utf-8"),
        "flags": FLAGS,
        "link": link_flags,
        "platform": platform_name,
        "packages": {part.name: part.package for part in chosen.build},
        "manifests": manifests,
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    version = modules.get(KUEUE) or versions[chosen.build[0].name]
    key = f"{chosen.name}-{version}-{platform_name.replace('/', '-')}-{digest[:16]}"
    return Recipe(chosen, go_folder, platform_name, link_flags, versions, key)


def _link_flags(part: BuildPart, inventory: Inventory, modules: Mapping[str, str]) -> str:
    """The stamps of all modules there are, whichever part it is: libraries report them, too."""
    flags = [STRIP]
    known = {module: s for module, s in inventory.stamps.items() if module in modules}
    for module, stamps in known.items():
        major, minor, *_ = version_numbers(modules[module])
        values = {"version": modules[module], "major": str(major), "minor": str(minor)}
        flags += [f"-X {Template(text).substitute(values)}" for text in stamps]
    return " ".join(flags)
