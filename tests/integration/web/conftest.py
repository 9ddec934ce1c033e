"""The page of a lab, opened as a person opens it, and the browser that looks at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.integration.cli import Lab
from tests.integration.web.seat import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for a test module: Playwright holds the thread's event loop while it is open."""
    with chromium() as browser:
        yield browser


def open_link(lab: Lab) -> str:
    """Open the page; the link that `lab open` prints."""
    said = lab.done("open", "--no-browser")
    return next(word for word in said.out.split() if word.startswith("http"))


@pytest.fixture(scope="module")
def link(lab: Lab) -> str:
    """The page of the lab in whatever state the tests before have left it."""
    lab.done("provision")
    return open_link(lab)


@pytest.fixture(scope="module")
def link_anew(lab: Lab) -> str:
    """The page of the lab as a learner finds it on the first day."""
    lab.done("provision")
    lab.done("reset", "--yes")
    return open_link(lab)
