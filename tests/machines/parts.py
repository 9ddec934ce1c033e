"""The programs of a node: built by Go into the lab's cache of parts, and two small ones of ours."""

from __future__ import annotations

import functools
import hashlib
import sys
import tempfile
import time
from pathlib import Path

from provision.local.builder import go_environment
from provision.local.cache import PartCache, remove_tree
from provision.local.parts import Parts, PartStore
from provision.local.recipe import FLAGS, STRIP
from provision.local.toolchain import find_toolchain, install_toolchain
from provision.target import Progress
from provision.versions import go_version
from tests.machines.places import cache, settings
from tests.machines.shell import run

SETS = ("node", "runtime")
TRAINING = ("base", "jobset", "trainer")
# Where a machine finds the programs that the stand-in of k3s runs.
STANDIN = "/opt/k3s-standin"
OWN = Path(__file__).parent / "go"
BUILD_SECONDS = 1200.0


@functools.cache
def parts() -> Parts:
    """All programs of a node; built now when the cache lacks them, which takes minutes."""
    return PartStore(settings()).ensure(SETS, _tell, time.monotonic())


@functools.cache
def training_parts() -> Parts:
    """JobSet and Trainer, and what they run beside; built now when the cache lacks them."""
    return PartStore(settings()).ensure(TRAINING, _tell, time.monotonic())


def _tell(progress: Progress) -> None:
    if progress.is_done:
        print(f"  {progress.stage}", file=sys.stderr, flush=True)  # noqa: T201


def standin_folders() -> dict[str, Path]:
    """Folders with the programs: by the name of one of them, under which a machine sees it."""
    found = parts().binaries
    return {name: found[name].parent for name in ("etcd", "kubelet", "containerd")}


def own_program(name: str) -> Path:
    """The program of the folder `go/NAME`, built now when the cache lacks it."""
    sources = sorted(p for p in (OWN / name).iterdir() if p.is_file())
    digest = hashlib.sha256(b"\0".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    target = cache() / "programs" / f"{name}-{digest}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        try:
            go("build", *FLAGS, f"-ldflags={STRIP}", "-o", str(draft / name), folder=OWN / name)
            (draft / name).rename(target)
        finally:
            remove_tree(draft)
    return target


def go(*args: str, folder: Path) -> str:
    """Run Go on the module in `folder`, with the lab's caches; what it prints."""
    chosen = settings()
    store = PartCache(chosen.cache)
    oldest = go_version((folder / "go.mod").read_text("utf-8"))
    toolchain = find_toolchain(chosen.search_path, oldest)
    toolchain = toolchain or install_toolchain(store, chosen.environ)
    env = go_environment(store, chosen.environ)
    return run(toolchain.program, *args, within=BUILD_SECONDS, folder=folder, env=env)
