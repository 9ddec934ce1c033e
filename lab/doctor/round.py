"""One round of `lab doctor`: this machine, the place, and the grader, in that order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from lab.doctor.here import examine_files, examine_tools
from lab.doctor.selftest import Kit, try_grader
from lab.places import Place
from provision.errors import LabError
from provision.health import Diagnosis, Health, bad
from provision.message import say


def examine(place: Place, kit: Kit | None = None) -> tuple[Diagnosis, ...]:
    """All findings. Nothing is written to the cluster, the workspace or the record.

    `kit` plays cases on a place of its own.
    """
    with ThreadPoolExecutor(2) as pool:
        target = pool.submit(_examine_target, place)
        grader = pool.submit(lambda: tuple(try_grader(place.lab, kit)))
        here = (*examine_tools(), *examine_files(place, is_here=place.target.is_here))
        return (*here, *target.result(), *grader.result())


def is_healthy(findings: tuple[Diagnosis, ...]) -> bool:
    """Nothing is bad; notes and what was skipped do not count."""
    return all(finding.health is not Health.BAD for finding in findings)


def _examine_target(place: Place) -> tuple[Diagnosis, ...]:
    try:
        return place.target.examine()
    except LabError as error:
        return (bad("place", error.what, error.next_move or say("see make status")),)
