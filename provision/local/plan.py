"""From the inventory and a place's folders and ports to the processes to run. Pure: no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from string import Template

from provision.errors import TargetError
from provision.local.components import STOP_SECONDS, ComponentSpec, Inventory, PartSet, ProbeSpec
from provision.message import say
from provision.versions import version_numbers


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a place keeps things, all below its home."""

    home: Path

    @property
    def parts(self) -> Path:
        """Links to the built binaries in the cache, one for each part."""
        return self.home / "parts"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.home / "pki"

    @property
    def conf(self) -> Path:
        """Configuration files of the components."""
        return self.home / "conf"

    @property
    def logs(self) -> Path:
        """One log for each component, and the audit log."""
        return self.home / "logs"


@dataclass(frozen=True, slots=True)
class Probe:
    """A GET on `url`; `authority` and `identity` are files in the place, or None for plain HTTP."""

    url: str
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """One process, ready to start: what to run, what says that it is ready, what it needs first."""

    name: str
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    probe: Probe
    after: tuple[str, ...]
    log: Path
    version: str
    opens: Probe | None = None
    stop_seconds: int = STOP_SECONDS
    is_needed: bool = True
    is_on_demand: bool = False


@dataclass(frozen=True, slots=True)
class Blanks:
    """The values that fill the templates of the data files."""

    values: Mapping[str, str]

    def for_yaml(self) -> Blanks:
        """The same values, fit to stand between double quotes in YAML, as any JSON text is."""
        return Blanks({name: json.dumps(value)[1:-1] for name, value in self.values.items()})

    def fill(self, text: str) -> str:
        """The text with every `$name` replaced; TargetError for a name that is not known."""
        try:
            return Template(text).substitute(self.values)
        except (KeyError, ValueError) as error:
            raise TargetError(
                say("components.yaml has a template that cannot be filled: {reason}.", reason=error)
            ) from error


def port_names(sets: Iterable[PartSet]) -> tuple[str, ...]:
    """The names of all ports that the components of these sets want."""
    return tuple(dict.fromkeys(p for s in sets for c in s.components for p in c.ports))


def make_blanks(
    folders: Folders,
    ports: Mapping[str, int],
    sets: Iterable[PartSet],
    gates: Iterable[str],
    frameworks: Iterable[str] = (),
) -> Blanks:
    """Everything that templates may name; `frameworks` are kinds of jobs beside those of sets."""
    frameworks = tuple(dict.fromkeys((*(f for s in sets for f in s.frameworks), *frameworks)))
    values = {
        "home": str(folders.home),
        "parts": str(folders.parts),
        "pki": str(folders.pki),
        "conf": str(folders.conf),
        "logs": str(folders.logs),
        "frameworks": ", ".join(frameworks),
        "kueue_gates": ",".join(gates),
    }
    values |= {f"port_{n.replace('-', '_')}": str(p) for n, p in ports.items()}
    return Blanks(values)


def kueue_gates(inventory: Inventory, version: str) -> tuple[str, ...]:
    """The feature gates that a Kueue of this version is started with."""
    numbers = version_numbers(version)
    return tuple(
        gate
        for below, gates in inventory.gates
        if numbers < version_numbers(below)
        for gate in gates
    )


def make_plan(
    sets: Iterable[PartSet],
    folders: Folders,
    blanks: Blanks,
    versions: Mapping[str, str],
    python: str,
) -> tuple[Component, ...]:
    """The components in an order that puts each after those it needs.

    `versions` maps a built part to its version, `python` is the interpreter for our own modules.
    """
    specs = {c.name: c for s in sets for c in s.components}
    return tuple(
        _component(specs[name], folders, blanks, versions, python)
        for name in start_order({c.name: c.after for c in specs.values()})
        if name in specs
    )


def start_order(needs: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Names so that each comes after those it needs; TargetError naming a circle."""
    try:
        return tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = ", ".join(str(name) for name in error.args[1])
        raise TargetError(
            say("Components need one another in a circle: {names}.", names=circle)
        ) from error


def _component(
    spec: ComponentSpec,
    folders: Folders,
    blanks: Blanks,
    versions: Mapping[str, str],
    python: str,
) -> Component:
    program = (
        (str(folders.parts / spec.binary),) if spec.binary else (python, "-I", "-m", spec.module)
    )
    probe = _probe(spec.probe, spec.probe.url, folders, blanks)
    return Component(
        name=spec.name,
        argv=(*program, *(blanks.fill(a) for a in spec.args)),
        env=tuple((name, blanks.fill(value)) for name, value in spec.env),
        probe=probe,
        after=spec.after,
        log=folders.logs / f"{spec.name}.log",
        version=versions.get(spec.binary, ""),
        opens=_probe(spec.probe, spec.opens, folders, blanks) if spec.opens else None,
        stop_seconds=spec.stop_seconds,
        is_needed=spec.is_needed,
        is_on_demand=spec.is_on_demand,
    )


def _probe(spec: ProbeSpec, url: str, folders: Folders, blanks: Blanks) -> Probe:
    return Probe(
        url=blanks.fill(url),
        authority=folders.pki / f"{spec.authority}.crt" if spec.authority else None,
        certificate=folders.pki / f"{spec.identity}.crt" if spec.identity else None,
        key=folders.pki / f"{spec.identity}.key" if spec.identity else None,
    )
