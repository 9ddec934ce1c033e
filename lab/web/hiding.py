"""What this process knows is kept from others of the same user."""

from __future__ import annotations

import ctypes
import os
import signal

SUPERVISED = "SUPERVISOR_ENABLED"  # set by supervisor for each of its children
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # linux/prctl.h


def keep_to_ourselves() -> None:
    """What this process knows is hidden from others of the same user; it ends with its supervisor.

    The shells of the page have our uid: without this they read the memory and the environment of
    the server below /proc (root still does). What is hidden cannot be found by its environment
    either, so that the supervisor's end must be enough to end it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if SUPERVISED in os.environ:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_with_parent() -> None:
    """This process is told to end when the one that started it is gone, in whatever way."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
