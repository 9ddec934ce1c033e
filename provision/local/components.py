"""What `data/components.yaml` says, as typed values: parts to build and components to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from provision.errors import TargetError, UsageError
from provision.message import say
from provision.target import Companion

DATA = Path(__file__).parent / "data"
SCHEMA = 1
BASE = "base"
GO = "go"
COMPANIONS = "companions"
AUTHORITY = "ca"
STOP_SECONDS = 15


@dataclass(frozen=True, slots=True)
class BuildPart:
    """One program that Go builds: its name, its package, and the module that has its version."""

    name: str
    package: str
    module: str


@dataclass(frozen=True, slots=True)
class ManifestSource:
    """Files of a module that are kept beside the binaries, for the controller `owner`."""

    owner: str
    module: str
    glob: str


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """A GET that answers 200 when a component is ready; templates not yet filled.

    `authority` names the CA that signed the server's certificate, `identity` the client
    certificate that is shown; both are empty for plain HTTP.
    """

    url: str
    authority: str = ""
    identity: str = ""


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """One process to run. Its program is a built part (`binary`) or a Python `module` of ours.

    `opens` is the URL of an earlier probe: what comes after it need not wait until it is all ready.
    One that was told to stop is killed after `stop_seconds`. `is_needed` is False for a companion,
    `is_on_demand` true for one that is started only when it is asked for.
    """

    name: str
    args: tuple[str, ...]
    probe: ProbeSpec
    ports: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    binary: str = ""
    module: str = ""
    opens: str = ""
    stop_seconds: int = STOP_SECONDS
    is_needed: bool = True
    is_on_demand: bool = False


@dataclass(frozen=True, slots=True)
class ControllerSpec:
    """How the manifests of a controller are rewritten; see `manifests.py`.

    `authority` names the CA that signed for its webhook server; `only` maps a webhook to the label
    that an object must have for the webhook to be asked about it.
    """

    name: str
    namespace: str
    webhook_port: str
    name_prefix: str
    authority: str
    conversion: tuple[str, ...]
    not_served: tuple[str, ...]
    only: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PartSet:
    """What a lab asks for by one name; `go` is the folder of `data` that has its go.mod.

    The fields after it are described at the head of components.yaml; `serving` is a template.
    """

    name: str
    build: tuple[BuildPart, ...]
    components: tuple[ComponentSpec, ...]
    frameworks: tuple[str, ...]
    manifests: tuple[ManifestSource, ...]
    go: str = GO
    accounts: Mapping[str, str] = field(default_factory=dict)
    serving: Mapping[str, str] = field(default_factory=dict)
    configurations: tuple[str, ...] = ()
    files: str = ""
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that can be built and run; `gates` are (below this Kueue version, gates)."""

    sets: Mapping[str, PartSet]
    stamps: Mapping[str, tuple[str, ...]]
    controllers: tuple[ControllerSpec, ...]
    gates: tuple[tuple[str, tuple[str, ...]], ...]

    def chosen(self, names: tuple[str, ...]) -> tuple[PartSet, ...]:
        """The base set and the named ones; UsageError for a name that is not known."""
        for name in names:
            if name not in self.sets:
                known = ", ".join(sorted(self.sets))
                raise UsageError(
                    say(
                        "There is no set of parts {name}; known are {known}.",
                        name=name,
                        known=known,
                    ),
                    next_move=say("Look at target.parts in the lab's lab.yaml."),
                )
        return tuple(self.sets[n] for n in dict.fromkeys((BASE, *names)))


def companion_set(companions: Iterable[Companion]) -> PartSet:
    """The programs that a lab runs beside its cluster, as one more set: nothing to build."""
    specs = tuple(
        ComponentSpec(
            name=c.name,
            args=c.args,
            probe=ProbeSpec(
                f"http://127.0.0.1:$port_{c.name.replace('-', '_')}{c.ready_path}",
            ),
            ports=(c.name,),
            after=c.needs,
            module=c.module,
            is_needed=False,
            is_on_demand=c.is_on_demand,
        )
        for c in companions
    )
    return PartSet(COMPANIONS, (), specs, (), ())


def load_inventory(path: Path = DATA / "components.yaml") -> Inventory:
    """Read components.yaml; TargetError naming what is wrong with it."""
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        if raw["schema"] != SCHEMA:
            raise ValueError(f"schema is {raw['schema']}")
        return _inventory(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise TargetError(
            say("{path} cannot be understood: {reason}.", path=path, reason=repr(error))
        ) from error


def _inventory(raw: Mapping[str, Any]) -> Inventory:
    builds = {name: BuildPart(name, **fields) for name, fields in raw["build"].items()}
    components = {c["name"]: _component(c) for c in raw["components"]}
    sets = {n: _part_set(n, fields, builds, components) for n, fields in raw["sets"].items()}
    controllers = tuple(_controller(n, fields) for n, fields in raw["controllers"].items())
    gates = tuple((g["below"], tuple(g["gates"])) for g in raw["kueue_gates"])
    stamps = {module: tuple(texts) for module, texts in raw["stamps"].items()}
    return Inventory(sets, stamps, controllers, gates)


def _part_set(
    name: str,
    raw: Mapping[str, Any],
    builds: Mapping[str, BuildPart],
    components: Mapping[str, ComponentSpec],
) -> PartSet:
    return PartSet(
        name=name,
        build=tuple(builds[b] for b in raw["build"]),
        components=tuple(components[c] for c in raw["components"]),
        frameworks=tuple(raw["frameworks"]),
        manifests=tuple(ManifestSource(**m) for m in raw["manifests"]),
        go=raw.get("go", GO),
        accounts=dict(raw.get("accounts", {})),
        serving=dict(raw.get("serving", {})),
        configurations=tuple(raw.get("configurations", ())),
        files=raw.get("files", ""),
        objects=tuple(raw.get("objects", ())),
    )


def _controller(name: str, raw: Mapping[str, Any]) -> ControllerSpec:
    return ControllerSpec(
        name=name,
        namespace=raw["namespace"],
        webhook_port=raw["webhook_port"],
        name_prefix=raw["name_prefix"],
        authority=raw.get("authority", AUTHORITY),
        conversion=tuple(raw.get("conversion", ())),
        not_served=tuple(raw.get("not_served", ())),
        only=dict(raw.get("only", {})),
    )


def _component(raw: Mapping[str, Any]) -> ComponentSpec:
    probe = raw["probe"]
    return ComponentSpec(
        name=raw["name"],
        args=tuple(raw["args"]),
        probe=ProbeSpec(probe["url"], probe.get("authority", ""), probe.get("as", "")),
        ports=tuple(raw.get("ports", ())),
        after=tuple(raw.get("after", ())),
        env=tuple(sorted(raw.get("env", {}).items())),
        binary=raw.get("binary", ""),
        module=raw.get("module", ""),
        opens=raw.get("opens", ""),
        stop_seconds=int(raw.get("stop_seconds", STOP_SECONDS)),
    )
