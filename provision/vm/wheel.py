"""Our own wheel: the program as the machine gets it, with catalogs and xterm.js inside.

It is built from a copy of the sources without a network, by hatchling and Babel of this project's
own environment; the same sources give the same bytes, so that a second provision finds no change.
Answers and tests are no part of it.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from provision.errors import TargetError
from provision.files import plain_file_errors
from provision.message import say

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("lab", "checks", "provision")
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
ASSETS = Path("lab") / "web" / "xterm"
BUILD_SECONDS = 120.0
_CATALOGS = "lab/locale/*/LC_MESSAGES/*.po"


def page_assets(cache: Path) -> Path:
    """Where the page keeps xterm.js once it was fetched: below the cache, by its lock file."""
    lock = PROJECT / "lab" / "web" / "npm" / "package-lock.json"
    return cache / "page" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]


def build_wheel(out: Path, assets: Path, project: Path = PROJECT) -> Path:
    """Build the wheel of `project` into the folder `out`; the path of the file.

    `assets` is the folder of xterm.js as the page fetches it. TargetError when it holds nothing, or
    when the build fails.
    """
    if not assets.is_dir() or not any(assets.iterdir()):
        raise TargetError(
            say("{path} does not hold xterm.js, which the page needs.", path=assets),
            next_move=say("Fetch it with make open, where npm reaches its registry."),
        )
    if not (project / "pyproject.toml").is_file():
        raise TargetError(
            say("The wheel can be built from the project's folder only."),
            next_move=say("Run the command there, or use a ready bundle with BUNDLE=dir."),
        )
    with plain_file_errors(), tempfile.TemporaryDirectory(prefix="lab-wheel-") as name:
        copy, draft = Path(name) / "project", Path(name) / "dist"
        _lay_out(project, copy)
        shutil.copytree(assets, copy / ASSETS)
        _compile_catalogs(copy)
        _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(draft)], copy)
        built = next(iter(draft.glob("*.whl")))
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, out / f".{built.name}.new")
        return (out / f".{built.name}.new").replace(out / built.name)


def _lay_out(project: Path, copy: Path) -> None:
    """The sources and what the package's metadata name; nothing that tools left behind."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", "*.mo", ".*_cache")
    for package in PACKAGES:
        shutil.copytree(project / package, copy / package, ignore=ignore)
    for file in BESIDE:
        shutil.copyfile(project / file, copy / file)
    shutil.rmtree(copy / ASSETS, ignore_errors=True)


def _compile_catalogs(copy: Path) -> None:
    for catalog in sorted(copy.glob(_CATALOGS)):
        _run(
            [
                *(sys.executable, "-m", "babel.messages.frontend", "--quiet", "compile"),
                *("--input-file", str(catalog), "--output-file", str(catalog.with_suffix(".mo"))),
            ],
            copy,
        )


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(str(error)) from error
    if done.returncode:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        raise _failed(lines[-1] if lines else str(done.returncode))


def _failed(reason: str) -> TargetError:
    return TargetError(
        say("The wheel of this project could not be built: {reason}", reason=reason),
        next_move=say("Run make clean, then the same command again."),
    )
