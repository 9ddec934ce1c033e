"""Collecting a bundle: everything that versions.yaml names, each file checked before it counts.

A run that breaks off is gone on with by the next; what is there already is not fetched again, not
even its checksum where that was published by others: `.collected.json` remembers it. All that could
not be had is told at once, at the end.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from provision.errors import LabError, TargetError, UsageError
from provision.files import plain_file_errors
from provision.message import Message, say
from provision.state import locked
from provision.target import Progress, Tell
from provision.vm.bundle.index import write_index
from provision.vm.bundle.model import INDEX, Artefact, Bundle, Kind, lines
from provision.vm.collecting.debs import collect_debs, is_same_release
from provision.vm.collecting.http import Web
from provision.vm.collecting.images import pull_chart, pull_image
from provision.vm.collecting.journal import Journal
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.oci import Reference, Registry
from provision.vm.collecting.plan import Plan, Wanted, collected
from provision.vm.collecting.sums import fits
from provision.vm.collecting.wheels import LOCK_FILE, collect_wheels, wheel_artefact
from provision.vm.wheel import build_wheel

LOCK = ".collecting.lock"
TELL_SECONDS = 10.0
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Collected:
    """A whole bundle, and what is worth knowing about it."""

    bundle: Bundle
    remarks: tuple[Message, ...]


def collect(
    folder: Path,
    plan: Plan,
    *,
    page: Path | None,
    environ: Mapping[str, str],
    tell: Tell,
    needs_debs: bool = True,
    lock_file: Path = LOCK_FILE,
) -> Collected:
    """Bring all that the plan names into `folder` and write its `bundle.yaml`.

    `page` is the folder of xterm.js, which our own wheel takes in. Without `needs_debs` Debian
    packages that cannot be had are a remark. TargetError lists everything that could not be had.
    """
    started = time.monotonic()
    _require_ours(folder)
    with plain_file_errors(), locked(folder / LOCK, tell, started):
        with Web(environ) as web:
            work = _Work(folder, plan, environ, web, tell, started)
            for wanted in plan.artefacts:
                work.attempt(wanted)
        work.wheels(lock_file)
        work.our_wheel(page)
        work.debs(needs_debs)
        if work.problems:
            raise _not_had(folder, work.problems)
        bundle = Bundle(folder, plan.platform, plan.os, tuple(work.artefacts))
        write_index(bundle)
        _sweep(folder)
        return Collected(bundle, (*work.remarks, *_published(bundle)))


def collect_one(
    wanted: Wanted, folder: Path, web: Web, registry: Registry, platform: str
) -> Artefact:
    """Get one artefact into the folder of a bundle; NotHad when it cannot be had."""
    target = folder / wanted.file
    target.parent.mkdir(parents=True, exist_ok=True)
    if wanted.image:
        reference = Reference.of(wanted.image)
        pull = pull_chart if wanted.kind is Kind.CHART else pull_image
        sha256 = pull(registry, reference, platform, wanted.checksum, target)
        return collected(wanted, sha256, is_pinned=bool(wanted.checksum))
    checksum = wanted.checksum or web.published_sum(wanted.sums, _name(wanted.url))
    try:
        sha256 = fits(target, checksum) or web.download(wanted.url, target, checksum)
    except NotHad as gone:
        if not (gone.is_gone and wanted.instead):
            raise
        newer = web.published_sum(wanted.sums, _name(wanted.instead))
        sha256 = fits(target, newer) or web.download(wanted.instead, target, newer)
        return collected(wanted, sha256, source=wanted.instead, is_pinned=False)
    return collected(wanted, sha256, is_pinned=bool(wanted.checksum))


class _Work:
    """One run of `collect`: what was had so far, and what not."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        environ: Mapping[str, str],
        web: Web,
        tell: Tell,
        started: float,
    ) -> None:
        self._folder, self._plan, self._environ = folder, plan, environ
        self._web, self._registry = web, Registry(web)
        self._tell, self._started = tell, started
        self._journal = Journal(folder)
        self.artefacts: list[Artefact] = []
        self.problems: list[Message] = []
        self.remarks: list[Message] = []

    def attempt(self, wanted: Wanted) -> None:
        """Get one artefact, unless an earlier run has got it."""
        if (known := self._journal.find(wanted)) is not None:
            self.artefacts.append(known)
            return
        self._say(say("fetching {name} {version}", name=wanted.name, version=wanted.version))
        self._web.listen = self._hearing(wanted.name)
        try:
            artefact = collect_one(
                wanted, self._folder, self._web, self._registry, self._plan.platform
            )
        except NotHad as error:
            name, reason = f"{wanted.name} {wanted.version}", error.reason
            self.problems.append(say("{name}: {reason}", name=name, reason=reason))
            return
        self.artefacts.append(artefact)
        self._journal.note(wanted, artefact)

    def wheels(self, lock_file: Path) -> None:
        """Get the Python packages of the machine."""
        self._say(say("fetching the Python packages"))
        try:
            self.artefacts += collect_wheels(self._plan, self._folder, self._environ, lock_file)
        except NotHad as error:
            self.problems.append(say("Python packages: {reason}", reason=error.reason))

    def our_wheel(self, page: Path | None) -> None:
        """Build the lab itself for the machine, with the files of its page."""
        if page is None:
            self.problems.append(say("our own wheel: it needs xterm.js from npm"))
            return
        try:
            wheel = build_wheel(self._folder / "wheels", page)
            self.artefacts.append(wheel_artefact(self._folder, wheel))
        except LabError as error:
            self.problems.append(say("our own wheel: {reason}", reason=error.what))

    def debs(self, are_needed: bool) -> None:
        """Get the Debian packages, where this machine is of the same release."""
        if not is_same_release(self._plan):
            self.remarks.append(
                say(
                    "Debian packages are not in it: this machine does not run {os}. "
                    "The lab's machine must get them by its own apt.",
                    os=self._plan.os,
                )
            )
            return
        self._say(say("fetching the Debian packages"))
        try:
            self.artefacts += collect_debs(self._plan, self._folder, self._environ)
        except NotHad as error:
            problem = say(
                "Debian packages: {reason} (apt-get update may help)", reason=error.reason
            )
            (self.problems if are_needed else self.remarks).append(problem)

    def _hearing(self, name: str) -> Callable[[int, int], None]:
        """Tells now and then how much of a large file has come."""
        last = time.monotonic()

        def hear(size: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= TELL_SECONDS:
                last = time.monotonic()
                come, all_ = size // MB, total // MB
                self._say(say("{name}: {come} of {all} MB", name=name, come=come, all=all_ or "?"))

        return hear

    def _say(self, stage: Message) -> None:
        self._tell(Progress(stage, time.monotonic() - self._started))


def _require_ours(folder: Path) -> None:
    """Nothing is strewn over a folder that somebody keeps other things in."""
    names = {p.name for p in folder.iterdir()} if folder.is_dir() else set()
    if names and not names & {LOCK, INDEX}:
        raise UsageError(
            say("{path} holds other things than a bundle.", path=folder),
            next_move=say("Name an empty or a new folder: make bundle TARGET=vm OUT=folder."),
        )


def _sweep(folder: Path) -> None:
    """Remove halves of files that nobody will go on with."""
    for pattern in (".*.part", ".*.pieces"):
        for path in (*folder.glob(pattern), *folder.glob(f"*/{pattern}")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _published(bundle: Bundle) -> Iterable[Message]:
    names = [a.name for a in bundle.artefacts if a.proof == "published" and a.kind is not Kind.DEB]
    if names:
        yield say(
            "Checksums taken from those who release it, not pinned here: {names}.",
            names=", ".join(names),
        )


def _not_had(folder: Path, problems: list[Message]) -> TargetError:
    return TargetError(
        say("These could not be had:\n{problems}", problems=lines(problems)),
        next_move=say(
            "Run make bundle TARGET=vm OUT=folder where these can be reached, and bring the folder "
            "here: BUNDLE=folder. What was had is kept in {folder}.",
            folder=folder,
        ),
    )


def _name(url: str) -> str:
    return unquote(PurePosixPath(urlsplit(url).path).name)
