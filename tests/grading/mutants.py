"""Plays the mutants: none that changes the meaning may pass. `python -m tests.grading.mutants`.

Arguments choose mutants by the beginnings of their ids; `--every=N` takes only each N-th.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from click import echo

from checks.outcome import StepVerdict
from lab.casework.cases import Case
from lab.casework.kit import open_player
from lab.casework.playbook import base_of
from lab.casework.playing import Played, Player
from lab.places import Places
from tests.grading.judging import killer
from tests.grading.kit import NEVER_FIRST, checks_of
from tests.grading.mutating import Mutant, mutants

LAB = "kueue_quota"
PROVEN = (2, 4, 5, 8)  # steps of whose checks each must catch some mutants
AT_LEAST = 3


def play(player: Player, mutant: Mutant) -> Played:
    """A mutant, played as a case of its own."""
    with tempfile.TemporaryDirectory(prefix="lab-mutant-") as folder:
        files = Path(folder) / "files"
        files.mkdir()
        for name, content in mutant.files.items():
            (files / name).write_text(content, encoding="utf-8")
        case = Case(
            folder=Path(folder),
            lab=LAB,
            step=mutant.step,
            kind="wrong",
            title=mutant.id,
            why="a mutant",
            source="own",
            world="answered" if mutant.is_answered else "before",
            scripts={} if mutant.apply is None else {"apply.sh": mutant.apply},
        )
        return player.play(case)


def chosen(arguments: Sequence[str]) -> list[Mutant]:
    """The mutants that change the meaning, in the order in which their worlds are near."""
    every = next((int(a.split("=")[1]) for a in arguments if a.startswith("--every=")), 1)
    prefixes = [a for a in arguments if not a.startswith("--")]
    meant = [
        mutant
        for mutant in mutants(base_of(LAB))
        if not mutant.reason
        and (not prefixes or any(mutant.id.startswith(prefix) for prefix in prefixes))
    ]
    near = sorted(meant, key=lambda m: (m.step if m.is_answered else m.step - 1, bool(m.apply)))
    return near[::every]


def equivalents() -> list[Mutant]:
    """Those that are set aside, each with its reason."""
    return [mutant for mutant in mutants(base_of(LAB)) if mutant.reason]


def main(arguments: Sequence[str]) -> int:
    """Play, print what survived, and return 1 when anything did."""
    root = Places(os.environ, is_root=os.geteuid() == 0).root
    caught: Counter[tuple[int, str]] = Counter()
    off = []
    with open_player(os.environ, root, LAB) as player:
        began = time.monotonic()
        for mutant in chosen(arguments):
            started = time.monotonic()
            played = play(player, mutant)
            verdict, check = played.result.verdict, killer(played)
            echo(f"{time.monotonic() - started:5.1f} s  {mutant.id}  {verdict} {check}")
            if verdict is StepVerdict.NOT_YET:
                caught[mutant.step, check] += 1
            else:
                off.append(mutant)
                echo(f"{played}\n  !! {mutant.id} is {verdict}")
        seconds = time.monotonic() - began
    if not arguments:
        off += _thin(caught)
    _tell(caught, off, seconds)
    return 1 if off else 0


def _thin(caught: Counter[tuple[int, str]]) -> list[Mutant]:
    """Checks of the proven steps that caught too few, told as if they were mutants."""
    return [
        Mutant(f"{check} caught {caught[step, check]}, not {AT_LEAST}", step)
        for step in PROVEN
        for check in checks_of(LAB, step)
        if caught[step, check] < AT_LEAST and (step, check) not in NEVER_FIRST
    ]


def _tell(caught: Counter[tuple[int, str]], off: Sequence[Mutant], seconds: float) -> None:
    for (step, check), count in sorted(caught.items()):
        echo(f"step {step}  {check:18} {count:4}")
    for mutant in equivalents():
        echo(f"set aside  {mutant.id}: {mutant.reason}")
    total = sum(caught.values())
    aside, everyone = len(equivalents()), len(mutants(base_of(LAB)))
    echo(f"{aside} of {everyone} set aside as equivalent ({100 * aside / everyone:.1f} %)")
    for mutant in off:
        echo(f"!! {mutant.id}")
    echo(f"{total} caught in {seconds:.0f} s; {len(off)} off")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
