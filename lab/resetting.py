"""Bringing a place whose target is here back to its start, with a copy of the learner's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lab.places import Place, require_folder
from lab.progress import ProgressLog
from lab.starters import lay_starters
from lab.verdicts import VerdictStore
from lab.web.launching import Shells, is_open, open_again
from lab.workspace import dated_folder, keep_and_empty, keep_histories
from provision.target import Provisioned, Tell


@dataclass(frozen=True, slots=True)
class Done:
    """What a reset did. `kept` is the folder with the learner's files, None when there were none.

    The page's shells still run: `end_shells` comes last, since the command may stand in one.
    """

    provisioned: Provisioned
    kept: Path | None
    shells: Shells

    def end_shells(self) -> None:
        """End the shells of the page."""
        self.shells.end()


def reset_place(place: Place, environment: Mapping[str, str], tell: Tell) -> Done:
    """Cluster, workspace, progress and history begin anew; LabError when the target refuses."""
    place.target.info()
    require_folder(place.workspace)
    shells, was_open = Shells.of(place), is_open(place)
    provisioned = place.target.reset(tell)
    kept = keep_and_empty(place, "reset")
    keep_record(place, kept or dated_folder(place, "reset"))
    lay_starters(place, environment)
    if was_open:
        remarks = (*provisioned.remarks, *open_again(place, tell))
        provisioned = replace(provisioned, remarks=remarks)
    return Done(provisioned, kept, shells)


def keep_record(place: Place, folder: Path) -> None:
    """Move progress, verdicts and what the recorder has set aside into a dated folder."""
    ProgressLog(place.progress_file).archive(folder)
    VerdictStore(place.verdicts).archive(folder)
    keep_histories(place, folder)
