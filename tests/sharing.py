"""How several workers share the tests: what uses one place or one machine stays with one of them.

A worker takes the next lot when it is at the last test but one of what it has. So the long lots,
which mostly wait for a place, stand first, and beside the first of them, the machine's, the unit
tests, which compute. Without workers (`-n`) nothing of this is in effect.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from provision.errors import LabError
from provision.message import Message, say
from provision.waiting import wait_until

LEAVING_SECONDS = 60.0
UNIT = "tests/unit/"
LOCAL, WEB = "tests/integration/local/", "tests/integration/web/"
# Each lot by its folders or heads of names, in the order in which the lots are taken; a part of a
# file before the rest of it. Of the unit tests, and of what is named by none, each file is a lot.
LOTS = (
    ("tests/integration/vm/",),
    (UNIT,),
    ("tests/grading/test_cases.py::test_answer_is_judged[gpu_preemption/",),
    ("tests/grading/",),
    (f"{LOCAL}test_grader_", f"{LOCAL}test_lab_"),
    (f"{WEB}test_page_", f"{WEB}test_probes"),
    (f"{LOCAL}test_provision_",),
    (f"{LOCAL}test_training_place",),
    (f"{LOCAL}test_platform",),
    (f"{LOCAL}test_guide_",),
    (f"{WEB}test_hub",),
    (f"{LOCAL}test_why_",),
)


def number_of(nodeid: str) -> int:
    """Where the lot of a test stands in the order; what is named by none comes last."""
    return next((n for n, heads in enumerate(LOTS) if nodeid.startswith(heads)), len(LOTS))


def lot_of(nodeid: str) -> str:
    """What stays together with a test."""
    number = number_of(nodeid)
    is_whole = number < len(LOTS) and LOTS[number] != (UNIT,)
    return LOTS[number][0] if is_whole else nodeid.partition("::")[0]


class Sharing(LoadScopeScheduling):
    """Hands out whole lots, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return lot_of(nodeid)


NODES: list[WorkerController] = []


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    NODES.append(node)


def is_at_work(node: WorkerController) -> bool:
    """Whether a worker has neither said that it has finished nor gone."""
    channel = getattr(node, "channel", None)
    return not (channel is None or channel.isclosed() or hasattr(node, "workeroutput"))


def pytest_keyboard_interrupt() -> None:
    """Let the workers, who heard it as well, take down what they have brought up."""

    def busy() -> Message | None:
        names = [node.gateway.id for node in NODES if is_at_work(node)]
        return say("{names}", names=names) if names else None

    with contextlib.suppress(LabError):
        wait_until(busy, within=LEAVING_SECONDS)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A worker's temporary folder gets a short name: paths are to be as long as without workers."""
    if hasattr(config, "workerinput"):
        given = Path(config.option.basetemp)
        config.option.basetemp = given.with_name(given.name.removeprefix("popen-gw"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    return Sharing(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the lots into their order; within a file the tests keep theirs."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: number_of(item.nodeid))
