"""Debian packages with all that they need on a machine that has the required ones only.

apt on this machine resolves them for an empty system, once with the wanted packages and once
without: what is added goes into the bundle. It checks them against the signed lists of the release.
That works where this machine is the same release as the other; elsewhere it is said, and the
machine's own apt has to get them.
"""

from __future__ import annotations

import contextlib
import platform as machine_facts
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from provision.message import say
from provision.vm.bundle.model import Artefact, Kind
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.plan import Plan
from provision.vm.collecting.sums import fits

FOLDER = "debs"
ASK_SECONDS, FETCH_SECONDS = 60.0, 900.0
EMPTY = ("-o", "Dir::State::status=/dev/null", "-o", "Debug::NoLocking=1")
_LINE = re.compile(r"^'[^']+' (\S+\.deb) \d+ SHA256:([0-9a-f]{64})$")


@dataclass(frozen=True, slots=True)
class Package:
    """A .deb as apt's lists have it: `file` is its name in apt's cache."""

    file: str
    sha256: str

    @property
    def name(self) -> str:
        """The package's name."""
        return self.file.split("_")[0]

    @property
    def version(self) -> str:
        """Its version, epoch included."""
        return unquote(self.file.split("_")[1])


def is_same_release(plan: Plan) -> bool:
    """Whether this machine is of the release and kind that the plan is for, and has apt."""
    facts: Mapping[str, str] = {}
    with contextlib.suppress(OSError):
        facts = machine_facts.freedesktop_os_release()
    here = f"{facts.get('ID')}-{facts.get('VERSION_ID')}"
    is_same = here == plan.os and machine_facts.machine() == plan.machine
    return is_same and shutil.which("apt-get") is not None


def collect_debs(plan: Plan, bundle: Path, environ: Mapping[str, str]) -> tuple[Artefact, ...]:
    """Fetch the plan's packages into the bundle; NotHad when apt cannot.

    Those that are there already are not fetched again.
    """
    env = {**environ, "LC_ALL": "C"}
    folder = bundle / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    packages = resolve(plan, env)
    missing = [p for p in packages if fits(folder / p.file, f"sha256:{p.sha256}") is None]
    if missing:
        with tempfile.TemporaryDirectory(prefix=".debs-", dir=bundle) as name:
            exact = [f"{p.name}={p.version}" for p in missing]
            _run(["apt-get", "download", "--quiet=2", *exact], env, FETCH_SECONDS, Path(name))
            for package in missing:
                got = Path(name) / package.file
                if fits(got, f"sha256:{package.sha256}") is None:
                    raise NotHad(say("apt brought no right {file}", file=package.file))
                got.chmod(0o644)
                got.replace(folder / package.file)
    return tuple(
        Artefact(p.name, Kind.DEB, p.version, f"{FOLDER}/{p.file}", p.sha256, proof="published")
        for p in packages
    )


def resolve(plan: Plan, env: Mapping[str, str]) -> tuple[Package, ...]:
    """What the plan's packages bring beyond the required ones, in the order of their names."""
    asked = ["dpkg-query", "--show", "--showformat", "${Package} ${Priority}\n"]
    rows = [line.split() for line in _run(asked, env, ASK_SECONDS).splitlines()]
    required = [row[0] for row in rows if row[1:] == ["required"]]
    before = {p.name for p in _uris(required, env)}
    found = {p.name: p for p in _uris([*required, *plan.debs], env)}
    return tuple(found[name] for name in sorted(found) if name not in before)


def _uris(names: Sequence[str], env: Mapping[str, str]) -> list[Package]:
    """All packages that an empty system would get for these."""
    command = ["apt-get", "install", "--print-uris", "--quiet=2", "--no-install-recommends"]
    hashes = ("-o", "Acquire::ForceHash=SHA256")
    text = _run([*command, *EMPTY, *hashes, *names], env, ASK_SECONDS)
    lines = text.splitlines()
    found = [m for line in lines if (m := _LINE.fullmatch(line.strip()))]
    if len(found) != len(lines) or not found:
        raise NotHad(say("apt does not say what {names} need", names=", ".join(names[-3:])))
    return [Package(m[1], m[2]) for m in found]


def _run(
    command: Sequence[str], env: Mapping[str, str], within: float, folder: Path | None = None
) -> str:
    try:
        done = subprocess.run(
            list(command),
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHad(say("{command}: {reason}", command=command[0], reason=error)) from error
    if done.returncode:
        lines = [x for x in done.stderr.splitlines() if x.startswith("E:")] or ["failed"]
        reason = lines[0].removeprefix("E: ")
        raise NotHad(say("{command}: {reason}", command=command[0], reason=reason))
    return done.stdout
