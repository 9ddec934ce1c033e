"""What docs/add-a-lab.md says, read from the page itself: its files, and the walk at its end."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "add-a-lab.md"
SLUG = "tiny"
# Where the files of a lab lie; whatever is elsewhere is the engine's.
DATA = tuple(
    f"{folder}/{SLUG}/"
    for folder in (
        *("lab/content", "checks", "solutions"),
        *(f"tests/grading/{kind}" for kind in ("base", "right", "wrong", "broken")),
    )
)
_FILE = re.compile(r"^`([^`\n]+)`:\n\n(`{3,})[a-z]*\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
_WALK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENGINE = ("lab", "checks", "provision", "solutions", "tests", "docs")
_ALONE = ("pyproject.toml", "Makefile", "README.md", "CONTRIBUTING.md")


@dataclass(frozen=True, slots=True)
class Move:
    """One command of the walk, with its variables and the words that it says."""

    program: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    words: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return shlex.join((self.program, *self.arguments))

    @property
    def code(self) -> int:
        """How it must end: a check that says NOT YET exits with 1."""
        return int(self.arguments[:1] == ("check",) and "NOT YET" in self.words)


def guide_files() -> dict[str, str]:
    """The files of the page by their path; a path that stands there twice is an error."""
    found = _FILE.findall(GUIDE.read_text(encoding="utf-8"))
    files = {path: text for path, _, text in found}
    assert len(files) == len(found), "a file stands twice in the guide"
    return files


def guide_walk() -> list[Move]:
    """The commands of the page in their order."""
    [block] = _WALK.findall(GUIDE.read_text(encoding="utf-8"))
    moves: list[Move] = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            moves[-1].words.append(line)
            continue
        words = shlex.split(line.removeprefix("$ "))
        given = [word for word in words if re.match(r"[A-Z_]+=", word)]
        program, *arguments = words[len(given) :]
        variables = dict(word.split("=", 1) for word in given)
        moves.append(Move(program, tuple(arguments), variables))
    return moves


def lay_files(root: Path) -> None:
    """Write the page's files below a project; one that is there already is an error."""
    for path, text in guide_files().items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(text)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the project with an environment of its own, in which the copy's modules are found.

    The installed packages are those of the environment that runs the tests.
    """

    root: Path
    python: Path


def copy_project(folder: Path) -> Copy:
    """Copy the project without what builds have made, below `folder`."""
    root = folder / "project"
    left_out = shutil.ignore_patterns("__pycache__", ".*", "node_modules")
    for name in _ENGINE:
        shutil.copytree(ROOT / name, root / name, ignore=left_out)
    for name in _ALONE:
        shutil.copy(ROOT / name, root / name)
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    subprocess.run(command, check=True, timeout=60)
    python = folder / "venv" / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    # A path file in a folder that a path file names is not read: the tests' own project stays out.
    paths = f"{root}\n{sysconfig.get_path('purelib')}\n"
    (Path(done.stdout.strip()) / "copy.pth").write_text(paths, encoding="utf-8")
    return Copy(root, python)
