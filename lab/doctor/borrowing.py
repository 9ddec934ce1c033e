"""The place of the cases, borrowed for the self-test when it is up and nobody works on it."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path

from urllib3.exceptions import HTTPError

from checks.outcome import StepResult
from lab.casework.api import Refused
from lab.casework.cases import CaseError, read_case
from lab.casework.kit import FOLDER, kit_place, open_player
from lab.doctor.selftest import Kit
from provision.errors import LabError


def borrow_kit(environment: Mapping[str, str], root: Path, slug: str) -> Kit | None:
    """Plays a case there, None when there is no such place that is up and idle.

    It is never started for this: whoever has no kit gets the self-test on recorded objects.
    """
    place = kit_place(environment, root, slug)
    if not place.home.is_dir() or _is_busy(root) or not place.target.status().is_ready:
        return None

    def play(folder: Path) -> StepResult | None:
        try:
            case = read_case(folder, slug, len(place.lab.steps))
            with open_player(environment, root, slug) as player:
                return player.play(case).result
        except (LabError, CaseError, Refused, HTTPError, OSError):
            return None

    return play


def _is_busy(root: Path) -> bool:
    """Another command plays cases, which may take minutes."""
    try:
        with (root / FOLDER / "lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
