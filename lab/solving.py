"""Plays the answers of a step: lays its files into the workspace and runs its commands."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.content import render
from lab.model import Step
from lab.places import Place, require_folder
from lab.workspace import keep_copies
from provision.errors import LabError
from provision.message import say

SOLUTIONS = Path(__file__).parent.parent / "solutions"
COMMANDS = "commands.sh"
REPLACES = "replaces.txt"
LIMIT_SECONDS = 240.0  # a real node pulls images, and a bare `sleep` takes 31 s to end


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one step: the files it lays, by name, and its commands as a shell script.

    `replaces` are objects that the commands may delete or replace, each as `Kind name namespace`.
    """

    files: Mapping[str, str]
    commands: str
    replaces: tuple[str, ...] = ()


def read_answer(place: Place, step: Step, solutions: Path = SOLUTIONS) -> Answer:
    """The answer of a step, with the lab's facts put in; LabError when there is none here."""
    folder = solutions / place.lab.slug / f"step_{step.number}"
    if not folder.is_dir():
        raise LabError(
            say("There are no answers here for step {step}.", step=step.number),
            next_move=say("Answers come with the project's folder: run make solve there."),
        )
    texts = {
        file.name: render(file.read_text(encoding="utf-8"), place, step, where=str(file))
        for file in sorted(folder.iterdir())
        if file.is_file()
    }
    commands = texts.pop(COMMANDS, "")
    replaces = tuple(texts.pop(REPLACES, "").splitlines())
    return Answer(texts, commands, replaces)


def answer_to_json(step: Step, answer: Answer) -> Mapping[str, object]:
    """An answer as it goes to the lab inside a machine."""
    return {
        "step": step.number,
        "files": dict(answer.files),
        "commands": answer.commands,
        "replaces": list(answer.replaces),
    }


def answer_from_json(data: Mapping[str, object]) -> Answer:
    """The answer that `answer_to_json` wrote; ValueError when it is none, or names other folders.

    Only names of files are taken: an answer lays nothing outside the workspace.
    """
    files, commands, replaces = (data.get(key) for key in ("files", "commands", "replaces"))
    if not isinstance(files, dict) or not isinstance(commands, str):
        raise ValueError("no answer")
    if not isinstance(replaces, list):
        raise ValueError("no list of what is replaced")
    for name in files:
        if Path(name).name != name or name in ("", ".", ".."):
            raise ValueError(name)
    return Answer(
        {str(name): str(text) for name, text in files.items()},
        commands,
        tuple(str(line) for line in replaces),
    )


def files_in_the_way(place: Place, step: Step, answer: Answer) -> list[Path]:
    """Files of the learner that the answer, or its commands, would replace by something else."""
    require_folder(place.workspace)
    found = []
    for name in dict.fromkeys((*answer.files, *step.files)):
        file = place.workspace / name
        text = answer.files.get(name)  # None: the commands write it from what the cluster says
        if (file.is_symlink() or file.exists()) and (text is None or not _holds(file, text)):
            found.append(file)
    return found


def play(place: Place, step: Step, answer: Answer) -> Path | None:
    """Lay the files and run the commands; the learner's own files are copied first.

    Returns the folder of those copies, or None when there were none. Raises LabError with the last
    lines when a command fails or takes longer than LIMIT_SECONDS.
    """
    kept = None
    try:
        place.workspace.mkdir(parents=True, exist_ok=True)
        if found := files_in_the_way(place, step, answer):
            kept = keep_copies(place, found, f"solve-{step.number}")
        for name, text in answer.files.items():
            _write(place.workspace / name, text)
    except OSError as error:
        raise LabError(
            say(
                "The answer could not be laid into {path}: {error}",
                path=place.workspace,
                error=error,
            ),
            next_move=say("Make room or mend the permissions, then solve again."),
        ) from error
    _run(place, step, answer.commands)
    return kept


def environment(place: Place, base: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a learner works: kubectl first on PATH, and the lab's kubeconfig."""
    info = place.target.info()
    path = base.get("PATH", os.defpath)
    return {
        **base,
        "PATH": f"{place.target.tools_dir()}{os.pathsep}{path}",
        "KUBECONFIG": str(info.kubeconfig),
        "LAB": place.lab.slug,
    }


def _run(place: Place, step: Step, commands: str) -> None:
    if not commands:
        return
    with tempfile.TemporaryDirectory(prefix="lab-solve-") as folder:
        script = Path(folder) / COMMANDS
        script.write_text(commands, encoding="utf-8")
        try:
            done = subprocess.run(
                ["/bin/sh", str(script)],
                cwd=place.workspace,
                env=environment(place, os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _failed(step, f"> {LIMIT_SECONDS:g} s", error.output or b"") from error
    if done.returncode:
        raise _failed(step, str(done.returncode), done.stdout)


def _failed(step: Step, code: str, output: bytes) -> LabError:
    tail = output.decode(errors="replace").strip().splitlines()[-5:]
    return LabError(
        say(
            "The commands of step {step} failed ({code}): {tail}",
            step=step.number,
            code=code,
            tail=" / ".join(tail) or "-",
        ),
        next_move=say("See which step is not done yet with make check STEP=all."),
    )


def _holds(file: Path, text: str) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    try:
        return file.read_bytes() == text.encode()
    except OSError:
        return False


def _write(file: Path, text: str) -> None:
    """Replace a file whole; whatever stood there under that name is gone only at the end."""
    temporary = file.with_name(f".{file.name}.lab")
    temporary.unlink(missing_ok=True)
    if file.is_symlink():
        file.unlink()
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)
