"""The labs there are, as a page of one of them offers the others."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from lab.catalog import lab_slugs, load_lab
from lab.places import Place, Places
from lab.progress import ProgressLog, StepRecord
from lab.text import Speech
from lab.web.launching import Opened, opened
from provision.errors import LabError, UsageError
from provision.message import say


def labs_as_json(places: Places, here: Place, speech: Speech) -> list[Mapping[str, object]]:
    """All labs by their slugs: title, steps passed, and how to come to each.

    `is_open` tells that its page runs on this machine, so that a way of ours leads there.
    """
    return [_lab_as_json(places, slug, here, speech) for slug in lab_slugs()]


def page_of(places: Places, slug: str) -> Opened:
    """The page of another lab as it runs; UsageError when there is none."""
    found = opened(places.open(slug))
    if found is None:
        raise UsageError(
            say("The page of {lab} is not open.", lab=slug),
            next_move=say("Open it with make open LAB={lab}.", lab=slug),
        )
    return found


def _lab_as_json(places: Places, slug: str, here: Place, speech: Speech) -> Mapping[str, object]:
    lab, passed, is_open, is_provisioned = load_lab(slug), 0, False, False
    # A place that cannot be read is one to be made ready by its command, as one that is not there.
    with contextlib.suppress(LabError):
        place = here if slug == here.lab.slug else places.open(slug)
        records = ProgressLog(place.progress_file).records()
        passed = sum(bool(records.get(s.number, StepRecord()).passed_at) for s in lab.steps)
        is_provisioned = place.home.is_dir()
        is_open = slug == here.lab.slug or opened(place) is not None
    verb = "open" if is_provisioned else "provision"
    return {
        "lab": slug,
        "title": speech.pick(lab.title),
        "steps": len(lab.steps),
        "passed": passed,
        "is_here": slug == here.lab.slug,
        "is_open": is_open,
        "command": f"make {verb} LAB={slug}",
    }
