"""What every handler of the page needs to know; made once when the server starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.places import Place, Places
from lab.web.arriving import Arrival
from lab.web.launch import page_folder, tmux_socket
from provision.errors import LabError

SETTING = "lab_page"  # where handlers find it among the server's settings


@dataclass(frozen=True, slots=True)
class Page:
    """One learner's page.

    `environment` is that of the learner as far as it is let through: checks run and shells open in
    it. `language` is the one asked for when a call names none; `has_tmux` says whether shells
    outlive a reload. `arrival` brings the place up while the page is open already; without it, the
    page is opened at a place that is up.
    """

    place: Place
    language: str
    environment: Mapping[str, str]
    has_tmux: bool
    arrival: Arrival | None = None

    def require_place(self) -> None:
        """LabError when there is no place to work at; one that is on its way says so."""
        try:
            self.place.target.info()
        except LabError:
            if self.arrival is not None and self.arrival.message is not None:
                raise LabError(self.arrival.message) from None
            raise

    @property
    def places(self) -> Places:
        """The places of all labs, this one among them."""
        return Places(self.environment, is_root=os.geteuid() == 0)

    @property
    def folder(self) -> Path:
        """The page's own files, below the place's home."""
        return page_folder(self.place.home)

    @property
    def tmux_socket(self) -> Path:
        """Where the tmux server of the place's shells listens."""
        return tmux_socket(self.place.home)


def open_page(environment: Mapping[str, str], *, language: str, is_root: bool) -> Page:
    """The page of the lab that the environment means."""
    import shutil

    place = Places(environment, is_root=is_root).open()
    has_tmux = shutil.which("tmux", path=environment.get("PATH")) is not None
    return Page(place, language, dict(environment), has_tmux)
