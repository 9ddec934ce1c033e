"""Another Kueue than the pinned one: a go.mod and go.sum of its own, generated in the cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from provision.errors import TargetError
from provision.local.builder import go_environment
from provision.local.cache import PartCache, remove_tree
from provision.local.components import DATA
from provision.local.toolchain import Toolchain
from provision.message import say
from provision.target import Progress, Tell
from provision.versions import KUEUE, module_versions

CHECKSUM_DATABASE = "sum.golang.org"


def override_folder(
    cache: PartCache,
    version: str,
    toolchain: Callable[[], Toolchain],
    environ: Mapping[str, str],
    tell: Tell,
) -> Path:
    """The folder whose go.mod asks for this Kueue; made once, verified by the checksum database.

    Raises TargetError when the module cannot be had or does not fit the other parts.
    """
    pinned = DATA / "go"
    if module_versions((pinned / "go.mod").read_text("utf-8"))[KUEUE] == version:
        return pinned
    target = cache.overrides / version
    if (target / "go.sum").is_file():
        return target
    started = time.monotonic()
    tell(Progress(say("resolving Kueue {version}", version=version), 0.0))
    cache.check_writable()
    cache.overrides.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=cache.overrides))
    try:
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(pinned / name, draft / name)
        _resolve(draft, version, toolchain(), {**environ, "GOSUMDB": CHECKSUM_DATABASE}, cache)
        remove_tree(target)
        draft.rename(target)
    finally:
        remove_tree(draft)
    seconds = time.monotonic() - started
    tell(Progress(say("resolving Kueue {version}", version=version), seconds, is_done=True))
    return target


def _resolve(
    folder: Path, version: str, toolchain: Toolchain, environ: Mapping[str, str], cache: PartCache
) -> None:
    env = go_environment(cache, environ)
    for command in (("get", f"{KUEUE}@{version}"), ("mod", "tidy")):
        done = subprocess.run(
            [str(toolchain.program), *command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines()[-3:]
            raise TargetError(
                say(
                    "Kueue {version} cannot be had: {reason}",
                    version=version,
                    reason=" / ".join(lines),
                ),
                next_move=say("Leave KUEUE_VERSION out, or try another version."),
            )
    found = module_versions((folder / "go.mod").read_text("utf-8")).get(KUEUE)
    if found != version:
        raise TargetError(
            say(
                "Asked for Kueue {version}, the other parts need {found}.",
                version=version,
                found=found,
            )
        )
