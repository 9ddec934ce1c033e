"""Opening and ending the page of a place, as commands do it."""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import psutil

from lab.places import PAGE, Place
from lab.web.assets import fetch
from lab.web.launch import (
    Launch,
    launch_file,
    link_to,
    new_token,
    page_address,
    page_folder,
    read_launch,
    tmux_socket,
    write_launch,
)
from lab.web.listening import Beyond
from lab.web.surroundings import allowed
from provision.errors import LabError
from provision.files import plain_file_errors
from provision.message import Message, say
from provision.settings import Settings
from provision.state import locked
from provision.target import Tell, silent

END_SECONDS = 5.0
PEER = struct.Struct("3i")  # process, user and group: unix(7), struct ucred


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that answers at `port` of loopback, and beyond if its launch says so.

    `language` is that of whoever opens it; "" for nobody in particular.
    """

    launch: Launch
    port: int
    language: str = ""

    @property
    def address(self) -> str:
        """Its address on this machine, without the token."""
        return page_address(self.port)

    @property
    def link(self) -> str:
        """The address that logs in."""
        return self._link_to(self.address)

    @property
    def address_beyond(self) -> str | None:
        """Its address for other machines; None when it is not to be reached from there."""
        if not self.launch.is_remote:
            return None
        scheme = "https" if self.launch.certificate else "http"
        return f"{scheme}://{self.launch.beyond.called()}:{self.port}/learn"

    @property
    def link_beyond(self) -> str | None:
        """The address that logs in from there."""
        beyond = self.address_beyond
        return None if beyond is None else self._link_to(beyond)

    def _link_to(self, address: str) -> str:
        return link_to(address, self.launch.token, self.language, self.launch.language)


def open_page(
    place: Place, environment: Mapping[str, str], language: str, beyond: Beyond | None, tell: Tell
) -> Opened:
    """Start the page, or find the one that runs as it is wanted; LabError with the next move.

    `beyond` is None when nothing was said of it: a page that runs stays where it listens. Of two
    that open a page at once one waits, else each would give it a token of its own.
    """
    place.target.info()
    folder = page_folder(place.home)
    with plain_file_errors(), locked(folder / ".opening", tell, time.monotonic()):
        return _open(place, environment, language, beyond, tell)


def _open(
    place: Place, environment: Mapping[str, str], language: str, beyond: Beyond | None, tell: Tell
) -> Opened:
    settings = Settings.from_environment(environment)
    running = _running_launch(place)
    beyond = beyond or (running.beyond if running else Beyond())
    wanted = Launch(
        token="",
        language=language,
        assets=str(fetch(settings.cache, environment, tell)),
        environment={**allowed(environment), "LAB": place.lab.slug},
        address=beyond.address,
        hosts=beyond.hosts(),
        certificate=beyond.certificate,
        key=beyond.key,
    )
    if running is None or not _is_as_wanted(running, wanted):
        place.target.stop(PAGE)
        running = replace(wanted, token=new_token())
        write_launch(place.home, running)
    return Opened(running, place.target.start(PAGE, tell), language)


def ensure_launch(place: Place, environment: Mapping[str, str], language: str) -> None:
    """A launch for a page that is started by the machine itself, unless there is a usable one."""
    with contextlib.suppress(LabError):
        if read_launch(place.home) is not None:
            return
    settings = Settings.from_environment(environment)
    launch = Launch(
        token=new_token(),
        language=language,
        assets=str(fetch(settings.cache, environment, silent)),
        environment={**allowed(environment), "LAB": place.lab.slug},
    )
    write_launch(place.home, launch)


def is_open(place: Place) -> bool:
    """The page's server runs."""
    with contextlib.suppress(LabError):
        return place.target.is_running(PAGE)
    return False


def opened(place: Place) -> Opened | None:
    """The page as it runs; None when it does not, or when that cannot be told."""
    launch, port = _running_launch(place), place.target.port(PAGE)
    return None if launch is None or port is None else Opened(launch, port)


def open_again(place: Place, tell: Tell) -> tuple[Message, ...]:
    """Start it as it was opened last, unless it never was; a remark when that cannot be."""
    try:
        if read_launch(place.home) is not None:
            place.target.start(PAGE, tell)
    except LabError as error:
        following = error.next_move or say("Open it with make open.")
        return (say("The page did not come back: {what} {next}", what=error.what, next=following),)
    return ()


def forget_launch(place: Place) -> None:
    """No token is left lying about when the page is not meant to come back by itself."""
    launch_file(place.home).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Shells:
    """The tmux server that holds the page's shells; None when there is none.

    It is found before a place is taken down and ended after that, since the command may have been
    typed in one of these shells: it goes down with them, with nothing left to do.
    """

    server: psutil.Process | None

    @classmethod
    def of(cls, place: Place) -> Shells:
        """Those of a place; nothing is made where there is none."""
        if not page_folder(place.home).is_dir():
            return cls(None)
        with contextlib.suppress(OSError, psutil.Error), socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(END_SECONDS)
            caller.connect(str(tmux_socket(place.home)))
            # The kernel knows who listens, be that process stopped or slow.
            ids = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
            return cls(psutil.Process(PEER.unpack(ids)[0]))
        return cls(None)

    def end(self) -> None:
        """End them; what they run is hung up, but for this command, which sees them end."""
        if self.server is None:
            return
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with contextlib.suppress(psutil.NoSuchProcess):
            self.server.terminate()
            try:
                self.server.wait(timeout=END_SECONDS)
            except psutil.TimeoutExpired:
                self.server.kill()


def _running_launch(place: Place) -> Launch | None:
    if not is_open(place):
        return None
    with contextlib.suppress(LabError):
        return read_launch(place.home)
    return None


def _is_as_wanted(running: Launch, wanted: Launch) -> bool:
    """A different environment is no reason: it may be that of the page's own shell.

    Nor is another language, which the link names then, and which the page has a switch for.
    """
    return _bare(running) == _bare(wanted)


def _bare(launch: Launch) -> Launch:
    return replace(launch, token="", environment={}, language="")
