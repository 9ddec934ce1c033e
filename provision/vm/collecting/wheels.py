"""The Python packages of the machine as wheels, from requirements/run.txt with its hashes.

pip answers a lock file's markers for the Python that runs it; the machine has another one (Debian
12 has 3.11.2, for which some packages are locked in an older version). So they are answered here.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from provision.message import say
from provision.packages import pip_reason
from provision.vm.bundle.model import Artefact, Kind
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.plan import Plan
from provision.vm.collecting.sums import file_sums

LOCK_FILE = Path(__file__).parents[3] / "requirements" / "run.txt"
OLDEST_GLIBC, GLIBC = 5, 36  # 2.36 is Debian 12's
SECONDS = 900.0
FOLDER = "wheels"


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of the lock file; `hashes` are those that its files may have, `sha256:<hex>`."""

    name: str
    version: str
    hashes: frozenset[str]

    @property
    def line(self) -> str:
        """It as a line of a requirements file."""
        hashes = " ".join(f"--hash={h}" for h in sorted(self.hashes))
        return f"{self.name}=={self.version} {hashes}\n"


def collect_wheels(
    plan: Plan, bundle: Path, environ: Mapping[str, str], lock_file: Path = LOCK_FILE
) -> tuple[Artefact, ...]:
    """Fetch the locked wheels that fit the machine into the bundle; NotHad when pip cannot.

    No index is asked for those that are there already.
    """
    folder = bundle / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    locked = locked_for(plan, lock_file.read_text("utf-8"))
    missing = _missing(locked, bundle)
    if missing:
        with tempfile.TemporaryDirectory(prefix=".wheels-", dir=bundle) as name:
            wanted, fetched = Path(name) / "locked.txt", Path(name) / "fetched"
            wanted.write_text("".join(x.line for x in missing), encoding="utf-8")
            _fetch(_pip(plan, wanted, fetched), environ)
            for file in fetched.glob("*.whl"):
                file.chmod(0o644)
                file.replace(folder / file.name)
    held = _held(locked, bundle)
    if still := [x for x in locked if x.name not in held]:
        raise NotHad(say("pip brought no wheel of {name}", name=still[0].name))
    return tuple(held[x.name] for x in locked)


def _missing(locked: Sequence[Locked], bundle: Path) -> list[Locked]:
    held = _held(locked, bundle)
    return [x for x in locked if x.name not in held]


def _held(locked: Sequence[Locked], bundle: Path) -> dict[str, Artefact]:
    """The wheels of the bundle that the lock file allows, by the names of their packages."""
    allowed = {x.name: x for x in locked}
    found: dict[str, Artefact] = {}
    for file in sorted((bundle / FOLDER).glob("*.whl")):
        with contextlib.suppress(OSError, InvalidWheelFilename):
            artefact = wheel_artefact(bundle, file, proof="pinned")
            package = allowed.get(artefact.name)
            if package and f"sha256:{artefact.sha256}" in package.hashes:
                found[artefact.name] = artefact
    return found


def wheel_artefact(bundle: Path, file: Path, *, proof: str = "") -> Artefact:
    """The entry of bundle.yaml for a wheel that lies in the bundle."""
    name, version, _, _ = parse_wheel_filename(file.name)
    return Artefact(
        name=canonicalize_name(name),
        kind=Kind.WHEEL,
        version=str(version),
        file=str(file.relative_to(bundle)),
        sha256=file_sums(file)["sha256"],
        proof=proof,
    )


def locked_for(plan: Plan, lock: str) -> tuple[Locked, ...]:
    """What of a lock file the plan's machine needs, by the Python that it has."""
    environment = _environment(plan)
    kept = []
    for entry in re.split(r"(?<!\\)\n", lock):
        text, _, hashes = entry.replace("\\\n", " ").partition("--hash=")
        if not text.strip():
            continue
        requirement = Requirement(text.strip())
        if requirement.marker is None or requirement.marker.evaluate(environment):
            (version,) = (s.version for s in requirement.specifier)
            name = canonicalize_name(requirement.name)
            kept.append(Locked(name, version, frozenset(hashes.replace("--hash=", " ").split())))
    return tuple(kept)


def _environment(plan: Plan) -> dict[str, str]:
    """What markers are compared with on the machine."""
    return {
        **{key: str(value) for key, value in default_environment().items()},
        "implementation_name": "cpython",
        "implementation_version": plan.python,
        "os_name": "posix",
        "platform_machine": plan.machine,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": plan.python,
        "python_version": ".".join(plan.python.split(".")[:2]),
        "sys_platform": "linux",
    }


def _pip(plan: Plan, wanted: Path, fetched: Path) -> list[str]:
    major, minor = plan.python.split(".")[:2]
    platforms = [f"manylinux_2_{n}_{plan.machine}" for n in range(GLIBC, OLDEST_GLIBC - 1, -1)]
    platforms += [f"manylinux{n}_{plan.machine}" for n in ("2014", "2010", "1")]
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input"),
        *("--retries", "1", "--timeout", "20"),
        *("--python-version", plan.python, "--implementation", "cp"),
        *(word for abi in (f"cp{major}{minor}", "abi3", "none") for word in ("--abi", abi)),
        *(word for platform in platforms for word in ("--platform", platform)),
        *("--dest", str(fetched), "--requirement", str(wanted)),
    ]


def _fetch(command: list[str], environ: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHad(say("pip: {reason}", reason=error)) from error
    if done.returncode:
        raise NotHad(say("pip: {reason}", reason=pip_reason(done.stderr)))
