"""A learner's seat: the page in a real Chromium, and what can be seen and done there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from provision.message import say
from provision.waiting import wait_until

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
SEEN = """window.violations = [];
addEventListener('securitypolicyviolation', (e) => violations.push(
  [e.violatedDirective, e.blockedURI, e.sourceFile, e.lineNumber, e.sample].join(' ')));"""
ROWS = """(number) => [...document.querySelectorAll(`#terminal-${number} .xterm-rows > div`)]
  .map((row) => row.textContent.replaceAll('\\u00a0', ' ').trimEnd()).join('\\n').trimEnd()"""


def is_there() -> bool:
    """There is a Chromium on this machine."""
    return any(shutil.which(name) for name in CHROMIUM)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium of the system; a skip that says why when there is none."""
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium: the page was not tried in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Seat:
    """One tab of one browser profile. `told` collects what the console said."""

    context: BrowserContext
    page: Page
    link: str
    told: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, browser: Browser, link: str, patience: float = 15_000, **options: Any) -> Seat:
        """A new profile at a link; everything waits for `patience` milliseconds at most."""
        options.setdefault("viewport", {"width": 1440, "height": 900})
        context = browser.new_context(**options)
        context.set_default_timeout(patience)
        context.add_init_script(SEEN)
        seat = cls(context, context.new_page(), link)
        seat.page.on("console", lambda message: seat._hear(message.type, message.text))
        seat.page.on("pageerror", lambda error: seat._hear("pageerror", str(error)))
        seat.page.goto(link)
        return seat

    @classmethod
    def take(cls, browser: Browser, link: str, **options: Any) -> Seat:
        """A new profile, logged in by the link of `lab open`."""
        seat = cls.open(browser, link, **options)
        seat.await_connected()
        return seat

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning", "pageerror"):
            self.told.append(f"{kind}: {text}")

    def leave(self) -> None:
        self.context.close()

    # --- waiting and asking ---

    def ask(self, script: str, argument: object = None) -> Any:
        """The value of an expression or function in the page."""
        return self.page.evaluate(script, argument)

    def await_true(
        self, fact: Callable[[], object], what: str, within: float = 10, every: float = 0.03
    ) -> None:
        """Wait for it. The page's policy has no eval, so Playwright's own waiting is no use."""

        def missing() -> Any:
            return None if fact() else say("{what}\n{seen}", what=what, seen=self.screen())

        wait_until(missing, within=within, every=every)

    def text(self, selector: str) -> str:
        """What is written there, as it is laid out."""
        return str(self.page.inner_text(selector))

    @property
    def violations(self) -> list[str]:
        """What the content security policy refused in this document."""
        return list(self.ask("violations"))

    # --- the terminal ---

    def screen(self, number: int = 1) -> str:
        """The rows of a terminal."""
        return str(self.ask(ROWS, number))

    def await_connected(self, within: float = 15) -> None:
        """Logged in, words there, stream open, shell at its prompt."""
        linked = "document.querySelector('#terminal-link')?.dataset.state === 'connected'"
        self.await_true(lambda: self.ask(linked), "the terminal is connected", within)
        self.await_true(lambda: self.screen().rstrip().endswith(("$", "#")), "a prompt", within)

    def type(self, text: str, number: int = 1) -> None:
        """Type into a terminal as keys; newlines are Enter."""
        self.page.click(f"#terminal-{number} .xterm-screen")
        self.page.keyboard.type(text)

    def run(self, command: str, answer: str, within: float = 15) -> None:
        """Type a command, press Enter, and wait for a line of the answer."""
        self.type(command + "\n")
        self.await_true(
            lambda: answer in self.screen().splitlines(), f"{command}: {answer}", within
        )

    # --- the guide ---

    def speak(self, language: str) -> None:
        """Choose a language, and wait until everything is said in it."""
        self.page.select_option("#language", language)
        self.await_true(lambda: self.ask("document.documentElement.lang") == language, "the words")
        own = {"en": "Check", "ko": "채점"}[language]
        self.await_true(lambda: own in self.text("#check"), "the sentences")

    def open_step(self, number: int) -> None:
        """Choose a step from the list."""
        if not self.ask("document.querySelector('#all-steps').open"):
            self.page.click("#all-steps summary")
        self.page.click(f"#steps li:nth-child({number}) button")

    def check(self, verdict: str, within: float = 60) -> str:
        """Press Check, wait for the verdict, and give the text below it."""
        self.page.click("#check")
        self.await_true(
            lambda: self.ask("document.querySelector('#check').ariaDisabled") == "false",
            "the check has ended",
            within,
        )
        self.await_true(lambda: self.verdict == verdict, f"the verdict is {verdict}", 5)
        return self.text("#verdict")

    @property
    def verdict(self) -> str:
        """The word in the frame, empty before the first check."""
        head = self.page.query_selector("#verdict .verdict-head .badge")
        return "" if head is None else str(head.inner_text())

    # --- the picture ---

    def rows(self, table: str) -> list[Mapping[str, str]]:
        """A table of the picture: columns by their names."""
        script = """(name) => [...document.querySelectorAll(`[data-table=${name}] tbody tr`)]
          .map((row) => Object.fromEntries([...row.querySelectorAll('[data-column]')]
            .map((cell) => [cell.dataset.column, cell.textContent])))
          .filter((row) => Object.keys(row).length)"""
        return list(self.ask(script, table))


def shots() -> Path | None:
    """The folder for pictures that are to be kept: LAB_SHOTS, or none."""
    folder = os.environ.get("LAB_SHOTS")
    return Path(folder) if folder else None


def shoot(seat: Seat, name: str, default: Path) -> Path:
    """Keep a picture of the page as it is."""
    folder = shots() or default
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.png"
    seat.page.screenshot(path=file)
    return file
