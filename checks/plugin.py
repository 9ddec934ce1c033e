"""The pytest plugin that judges one step: request in, StepResult out.

Only a Mismatch is a failure. Every other exception is an error of the place or of the checks,
told in one honest line. Checks whose needs did not pass are skipped.
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import pytest

from checks.grader import Grader
from checks.history import History
from checks.kit.cluster import Cluster
from checks.kit.expect import Patience
from checks.kit.files import Files
from checks.kit.kubeconfig import require_same_cluster
from checks.outcome import Evidence
from checks.request import BadRequest, read_request
from provision.message import Message
from provision.target import TargetInfo

_GRADER = pytest.StashKey[Grader]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two files: what to judge, and where the result goes."""
    group = parser.getgroup("lab", "judging a step of a lab")
    group.addoption("--lab-request", type=Path, help="JSON file that says what to judge")
    group.addoption("--lab-result", type=Path, help="JSON file for the result")


def pytest_configure(config: pytest.Config) -> None:
    """Read the request and load the fixtures of its lab (`checks/<lab>/fixtures.py`)."""
    config.addinivalue_line("markers", "needs(*ids): checks that must have passed before")
    config.addinivalue_line("markers", "transient: a later step is meant to end its truth")
    path, result = config.getoption("--lab-request"), config.getoption("--lab-result")
    if path is None:
        return
    try:
        request = read_request(path)
    except BadRequest as bad:
        raise pytest.UsageError(f"--lab-request: {bad}") from bad
    gc.disable()  # a process of half a second frees nothing worth the search
    grader = config.stash[_GRADER] = Grader(request, result)
    if not request.lab.isidentifier() or not importlib.util.find_spec(f"checks.{request.lab}"):
        return
    fixtures = f"checks.{request.lab}.fixtures"
    try:
        config.pluginmanager.import_plugin(fixtures)
    except Exception as error:  # whatever it is, it must reach the result
        grader.spoil(fixtures, f"{type(error).__name__}: {error}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note id, title and marks of every check, in the order in which the file has them."""
    grader = config.stash.get(_GRADER, None)
    if grader is None:
        return
    for item in items:
        doc = getattr(getattr(item, "obj", None), "__doc__", None) or item.name
        is_transient = item.get_closest_marker("transient") is not None
        grader.expect(_id(item), doc, _needs(item), is_transient=is_transient)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file of checks that cannot be loaded is an error of the checks, never silence."""
    report = yield
    grader = collector.config.stash.get(_GRADER, None)
    if report.failed and grader is not None:
        lines = [line.strip() for line in str(report.longrepr).splitlines() if line.strip()]
        grader.spoil(collector.name, lines[-1].removeprefix("E ").strip() if lines else "?")
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a check when one that it needs did not pass."""
    grader = item.config.stash.get(_GRADER, None)
    if grader is not None and grader.start(_id(item)) is not None:
        pytest.skip("needs another check")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what a check raised, or that it raised nothing, into its outcome."""
    report = yield
    grader = item.config.stash.get(_GRADER, None)
    if grader is not None and not report.skipped:
        error = call.excinfo.value if call.excinfo else None
        if error is not None or call.when == "call":
            grader.finish(_id(item), error)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the result file."""
    grader = session.config.stash.get(_GRADER, None)
    if grader is not None:
        grader.write()


def _id(item: pytest.Item) -> str:
    return item.name.removeprefix("test_")


def _needs(item: pytest.Item) -> tuple[str, ...]:
    return tuple(str(name) for mark in item.iter_markers("needs") for name in mark.args)


@pytest.fixture(scope="session")
def grader(request: pytest.FixtureRequest) -> Grader:
    """The run itself, for the fixtures below."""
    return request.config.stash[_GRADER]


@pytest.fixture(scope="session")
def step(grader: Grader) -> int:
    """The number of the step that is judged."""
    return grader.request.step


@pytest.fixture(scope="session")
def target(grader: Grader) -> TargetInfo:
    """Where the lab runs."""
    return grader.request.target


@pytest.fixture(scope="session")
def facts(grader: Grader) -> Mapping[str, object]:
    """The lab's facts, as `lab.yaml` has them."""
    return grader.request.facts


@pytest.fixture(scope="session")
def files(grader: Grader) -> Files:
    """The learner's files."""
    return grader.files


@pytest.fixture(scope="session")
def cluster(grader: Grader, target: TargetInfo) -> Cluster:
    """The cluster, once both kubeconfigs are known to name it."""
    require_same_cluster(target.kubeconfig, target.grader_kubeconfig)
    return grader.cluster


@pytest.fixture(scope="session")
def patience(grader: Grader) -> Patience:
    """The seconds that the step's checks may wait, together."""
    return grader.patience


@pytest.fixture(scope="session")
def credit(grader: Grader) -> Mapping[int, Sequence[Evidence]]:
    """The evidence of the steps passed before, by number."""
    return grader.request.credit


@pytest.fixture(scope="session")
def history(grader: Grader) -> History:
    """What the recorder wrote down; empty where none is."""
    return History(grader.request.history)


@pytest.fixture
def evidence(grader: Grader) -> Callable[[Evidence], None]:
    """Call it with each fact that the running check rests on; kept when the check passes."""
    return grader.evidence.append


@pytest.fixture
def remark(grader: Grader) -> Callable[[Message], None]:
    """Call it with a sentence worth telling that changes no verdict."""
    return grader.remarks.append


@pytest.fixture
def past(grader: Grader) -> Callable[[Message], None]:
    """Call it when the running check passes for an earlier moment, with what has replaced that."""
    return grader.mark_past
