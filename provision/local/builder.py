"""Builds a set of parts from source with Go, once, into the cache.

A build that is broken off loses little: finished programs wait in a draft folder that only its own
key uses, Go's caches hold what was compiled, and nothing is an entry before it is complete.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil
import yaml

from provision.errors import TargetError
from provision.local.cache import Entry, FileFact, PartCache, folder_size
from provision.local.components import BuildPart
from provision.local.recipe import FLAGS, Recipe
from provision.local.toolchain import Toolchain
from provision.message import Message, say
from provision.target import Progress, Tell
from provision.waiting import wait_until

DISK_BYTES = 6 * 1024**3
MEMORY_BYTES = 3 * 1024**3
TELL_EVERY = 10.0
PART_SECONDS = 7200.0


class Builder:
    """Runs Go for one recipe. `environ` is the person's environment: proxies, GOPROXY and such."""

    def __init__(
        self,
        cache: PartCache,
        toolchain: Toolchain,
        environ: Mapping[str, str],
        tell: Tell,
        started: float,
    ) -> None:
        self._cache, self._toolchain, self._tell, self._started = cache, toolchain, tell, started
        self._env = go_environment(cache, environ)

    def build(self, recipe: Recipe) -> Entry:
        """Build what is missing of the set and add it to the cache."""
        draft = self._cache.parts / f".draft-{recipe.key}"
        (draft / "bin").mkdir(parents=True, exist_ok=True)
        log = self._cache.root / "build.log"
        self._say(say("fetching the source of {count} modules", count=_count(recipe)))
        self._go(("mod", "download"), recipe, log)
        parts = recipe.set.build
        for number, part in enumerate(parts, start=1):
            self._build_part(part, recipe, draft, log, number)
        self._keep_manifests(recipe, draft, log)
        entry = Entry(
            key=recipe.key,
            name=recipe.set.name,
            platform=recipe.platform,
            versions=dict(recipe.versions),
            files={str(p.relative_to(draft)): _fact(p) for p in _built_files(draft)},
            built=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            go=self._toolchain.version,
        )
        self._cache.add(draft, entry)
        return entry

    def _build_part(
        self, part: BuildPart, recipe: Recipe, draft: Path, log: Path, number: int
    ) -> None:
        total = len(recipe.set.build)
        stage = say(
            "building {name} {version} ({number} of {total})",
            name=part.name,
            version=recipe.versions[part.name],
            number=number,
            total=total,
        )
        target = draft / "bin" / part.name
        if target.exists():
            return
        self._say(stage)
        unfinished = target.with_name(f".{part.name}.unfinished")
        command = ("build", *FLAGS, f"-ldflags={recipe.link_flags[part.name]}")
        self._go((*command, "-o", str(unfinished), part.package), recipe, log, stage=stage)
        unfinished.rename(target)
        self._say(stage, is_done=True)

    def _keep_manifests(self, recipe: Recipe, draft: Path, log: Path) -> None:
        """Put the manifests of each controller beside the binaries, as JSON, which is read fast."""
        owners = dict.fromkeys(m.owner for m in recipe.set.manifests)
        for owner in owners:
            documents: list[object] = []
            for source in recipe.set.manifests:
                if source.owner == owner:
                    folder = self._module_folder(source.module, recipe)
                    documents += read_documents(sorted(folder.glob(source.glob)))
            target = draft / "manifests" / f"{owner}.json"
            target.parent.mkdir(exist_ok=True)
            target.write_text(json.dumps(documents, separators=(",", ":")), "utf-8")

    def _module_folder(self, module: str, recipe: Recipe) -> Path:
        command = ("list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
        done = subprocess.run(
            [str(self._toolchain.program), *command],
            cwd=recipe.go_folder,
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(done.stdout.strip())

    def _go(
        self, args: tuple[str, ...], recipe: Recipe, log: Path, *, stage: Message | None = None
    ) -> None:
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(self._toolchain.program), *args],
                cwd=recipe.go_folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                self._follow(process, stage)
            finally:
                process.terminate()
                process.wait()
        if process.returncode:
            raise TargetError(
                say("Go ended with {code}: {lines}", code=process.returncode, lines=_tail(log)),
                next_move=say(
                    "The whole output is in {path}. The next run goes on from here.", path=log
                ),
            )

    def _follow(self, process: subprocess.Popen[bytes], stage: Message | None) -> None:
        told = time.monotonic()

        def missing() -> Message | None:
            nonlocal told
            if process.poll() is not None:
                return None
            if stage is not None and time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                self._say(stage)
            return stage or say("Go is still at work")

        wait_until(missing, within=PART_SECONDS, every=0.1)

    def _say(self, stage: Message, *, is_done: bool = False) -> None:
        self._tell(Progress(stage, time.monotonic() - self._started, is_done))


def go_environment(cache: PartCache, environ: Mapping[str, str]) -> dict[str, str]:
    """What Go is run with: caches in ours, no other toolchain, the checksum database kept on."""
    ours = {
        "GOMODCACHE": str(cache.go / "mod"),
        "GOCACHE": str(cache.go / "build"),
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
    }
    unwanted = {
        "GOOS",
        "GOARCH",
        "GOEXPERIMENT",
        "GOROOT",
        "GONOSUMDB",
        "GONOSUMCHECK",
        "GOINSECURE",
    }
    kept = {name: value for name, value in environ.items() if name not in unwanted}
    return {"HOME": str(cache.root), **kept, **ours}


def check_resources(cache: PartCache) -> None:
    """TargetError when there is too little disk or memory for a build."""
    free = shutil.disk_usage(cache.root).free
    if free < DISK_BYTES and free + folder_size(cache.go) < DISK_BYTES:
        raise TargetError(
            say(
                "Building needs 6 GB of disk in {path}; {free} GB are free.",
                path=cache.root,
                free=f"{free / 1024**3:.1f}",
            ),
            next_move=say("Free some space, name another folder in LAB_CACHE, or use BUNDLE=."),
        )
    available = psutil.virtual_memory().available
    if available < MEMORY_BYTES:
        raise TargetError(
            say(
                "Building needs 3 GB of memory; {free} GB are available.",
                free=f"{available / 1024**3:.1f}",
            ),
            next_move=say(
                "Close other programs, or take ready-made parts: BUNDLE=/path/to/bundle.tar."
            ),
        )


def read_documents(paths: Iterable[Path]) -> list[object]:
    """All documents of YAML files, in order; empty ones left out."""
    documents: list[object] = []
    for path in paths:
        loaded = yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        documents += [d for d in loaded if d is not None]
    return documents


def _built_files(draft: Path) -> list[Path]:
    return sorted(p for p in draft.rglob("*") if p.is_file() and not p.name.startswith("."))


def _fact(path: Path) -> FileFact:
    with path.open("rb") as file:
        return FileFact(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _count(recipe: Recipe) -> int:
    return len((recipe.go_folder / "go.sum").read_text("utf-8").split("/go.mod ")) - 1


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()[-5:]
    return " / ".join(lines) or "no output"
