"""How the page looks and is reached: sizes, colours, languages, keyboard, screen reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from lab.catalog import lab_slugs
from tests.integration.cli import Lab
from tests.integration.web.seat import Seat, shoot

pytestmark = [pytest.mark.integration]
AXE = Path(__file__).parents[3] / ".venv" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
BASE = Path(__file__).parents[2] / "grading" / "base" / "kueue_quota"
FIT = """() => {
  const wide = [...document.querySelectorAll('body *')].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && getComputedStyle(one).clipPath === 'none' && box.right > innerWidth + 1
      && !one.closest('.xterm, .lines, #tables, #file-view, dialog');
  });
  return [document.documentElement.scrollWidth > innerWidth ? 'the page scrolls sideways' : '',
    ...wide.map((one) => `${one.tagName}#${one.id}.${one.className}`)].filter(Boolean);
}"""
INK = """([font, texts]) => {
  const pixels = (text) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [40, 40];
    const pen = canvas.getContext('2d', { willReadFrequently: true });
    pen.font = `28px ${getComputedStyle(document.documentElement).getPropertyValue(font)}`;
    pen.fillText(text, 4, 30);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  return texts.map(pixels);
}"""


@pytest.fixture(scope="module")
def worked(browser: Browser, lab: Lab, link_anew: str) -> str:
    """The page of a lab that stands at step 5, which was checked and is not right yet."""
    applied = "flavor cq lq job-1 job-2"
    lab.shell(
        f"cp {BASE}/*.* .; for name in {applied}; do kubectl apply -f $name.yaml; done;"
        " kubectl -n team-a wait --for=jsonpath={.status.ready}=1 job/train-1 job/train-2;"
        " kubectl apply -f job-3.yaml -f sneaky.yaml;"
        " echo 'no GPU is free on the node' > waiting.txt"
    )
    assert lab.check(4)["verdict"] == "PASS"
    assert lab.check(5)["verdict"] == "NOT YET"
    lab.done("hint", "5")
    return link_anew


@pytest.fixture(scope="module")
def seat(browser: Browser, worked: str) -> Iterator[Seat]:
    """One window for all that needs no other size or colours."""
    seat = Seat.take(browser, worked)
    seat.type("PS1='$ '; clear\n")
    seat.open_step(5)
    yield seat
    seat.leave()


def _violations(seat: Seat) -> list[str]:
    """What axe-core finds wrong, each with the first element."""
    if not AXE.exists():
        pytest.skip("no axe-core (make .venv/npm/.done): accessibility was not examined")
    seat.ask(AXE.read_text("utf-8") + ";0")
    found = seat.ask("axe.run({resultTypes: ['violations']}).then((r) => r.violations)")
    return [f"{one['id']} {one['impact']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.mark.parametrize(
    ("width", "height", "scheme", "language"),
    [
        (360, 740, "light", "ko"),
        (360, 740, "dark", "en"),
        (1440, 900, "dark", "ko"),
        (1440, 900, "light", "en"),
    ],
)
def test_it_fits_and_axe_finds_nothing(
    seat: Seat, tmp_path: Path, width: int, height: int, scheme: Any, language: str
) -> None:
    seat.page.emulate_media(color_scheme=scheme)
    seat.page.set_viewport_size({"width": width, "height": height})
    seat.speak(language)
    for view in ("guide", "desk", "queue") if width < 760 else ("guide",):
        if width < 760:
            seat.page.click(f"#views [data-view={view}]")
        shoot(seat, f"{width}-{scheme}-{language}-{view}", tmp_path)
        assert seat.ask(FIT) == [], view
        assert _violations(seat) == [], view
    seat.page.set_viewport_size({"width": 1440, "height": 900})


def test_it_fits_on_a_screen_of_4k(seat: Seat, tmp_path: Path) -> None:
    seat.page.set_viewport_size({"width": 3840, "height": 2160})
    shoot(seat, "3840-light-en", tmp_path)
    assert seat.ask(FIT) == []
    seat.page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.parametrize("font", ["--mono", "--sans"])
def test_korean_letters_have_glyphs(seat: Seat, font: str) -> None:
    one, other, unassigned = seat.ask(INK, [font, ["가", "힣", "\U0010fffd"]])
    assert one != unassigned, "no font with Hangul: install fonts-nanum"
    assert one != other


def test_files_are_shown_with_the_line_that_the_check_speaks_of(seat: Seat, tmp_path: Path) -> None:
    seat.page.click("#tab-3")
    seat.await_true(lambda: "waiting.txt" in seat.text("#file-list"), "the list")
    seat.page.click("#file-list button:text-is('waiting.txt')")
    seat.await_true(lambda: seat.page.query_selector(".row.marked"), "the mark")
    assert "no GPU is free on the node" in seat.text(".row.marked")
    assert "The check found:" in seat.text(".note")
    assert _violations(seat) == []
    shoot(seat, "files-marked", tmp_path)
    seat.page.click("#file-list button:text-is('cq.yaml')")
    seat.await_true(lambda: "ClusterQueue" in seat.text("#file-view"), "the other file")
    assert seat.ask("document.querySelectorAll('#file-view .line span[class]').length") > 3
    seat.page.click("#tab-1")


def test_a_file_of_the_learner_is_only_ever_text(seat: Seat, lab: Lab) -> None:
    evil = lab.workspace / "evil.yaml"
    evil.write_text('a: "<img src=x onerror=document.title=1><script>document.title=2</script>"\n')
    try:
        seat.page.click("#tab-3")
        seat.page.click("#file-list button:text-is('evil.yaml')")
        seat.await_true(lambda: "<script>" in seat.text("#file-view"), "the text")
        assert (
            seat.ask("document.querySelectorAll('#file-view img, #file-view script').length") == 0
        )
        assert seat.page.title() not in ("1", "2")
    finally:
        evil.unlink()
        seat.page.click("#tab-1")


def test_a_command_is_typed_and_enter_is_left_to_the_learner(seat: Seat) -> None:
    seat.type("clear\n")
    button = seat.page.locator("#step-text .command button").first
    command = str(button.get_attribute("aria-label")).removeprefix("Type into the terminal: ")
    assert command.startswith("kubectl")
    button.click()
    seat.await_true(lambda: seat.screen().endswith(command), "it stands at the prompt")
    assert len(seat.screen().splitlines()) == 1
    assert seat.ask("document.activeElement.className") == "xterm-helper-textarea"
    seat.page.keyboard.press("Enter")
    seat.await_true(lambda: len(seat.screen().splitlines()) > 2, "Enter runs it")
    assert seat.page.locator("#step-text .command button").count() >= 4


def test_a_block_is_copied_whole(seat: Seat) -> None:
    seat.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seat.page.locator("#step-text .block-tools button").first.click()
    seat.await_true(
        lambda: seat.ask("navigator.clipboard.readText()").count("kubectl") >= 4, "all lines"
    )


def test_hints_come_one_by_one_and_stay(seat: Seat, lab: Lab) -> None:
    seat.await_true(lambda: seat.page.locator(".hint").count() == 1, "the one of the terminal")
    seat.page.click("#hints button:has-text('Show hint 2 of 4')")
    seat.await_true(lambda: seat.page.locator(".hint").count() == 2, "the second")
    seat.await_true(lambda: "2 hints" in seat.text("#step-facts"), "they are counted")
    lab.done("hint", "5")
    seat.await_true(lambda: seat.page.locator(".hint").count() == 3, "one from the terminal")


def test_the_labs_are_offered_below_the_step(seat: Seat) -> None:
    seat.page.locator("#other-labs > summary").click()
    rows = seat.page.locator("#labs li")
    rows.first.wait_for()
    assert rows.count() == len(lab_slugs())
    texts = rows.all_inner_texts()
    [here] = [text for text in texts if "this page" in text]
    assert "GPU quota and queues" in here
    assert all("make provision LAB=" in text for text in texts if text is not here)
    assert not seat.page.locator("#scene").is_visible()  # no step of this lab finds anything
    seat.page.locator("#other-labs > summary").click()


def test_a_divider_moves_by_keys_and_pointer_and_is_remembered(seat: Seat) -> None:
    width = "document.querySelector('#guide').offsetWidth"
    before = seat.ask(width)
    seat.page.focus("#divide-columns")
    for _ in range(3):
        seat.page.keyboard.press("ArrowRight")
    assert seat.ask(width) > before
    assert seat.page.get_attribute("#divide-columns", "aria-valuenow") == "44"
    box = seat.page.locator("#divide-columns").bounding_box()
    assert box is not None
    seat.page.mouse.move(box["x"] + 4, 300)
    seat.page.mouse.down()
    seat.page.mouse.move(600, 300, steps=3)
    seat.page.mouse.up()
    dragged = seat.ask(width)
    assert abs(dragged - 600) < 8
    seat.page.reload()
    seat.await_connected()
    assert seat.ask(width) == dragged
    seat.page.dblclick("#divide-columns")
    assert abs(seat.ask(width) - before) < 3


def test_the_picture_turns_into_a_table_and_back(seat: Seat, tmp_path: Path) -> None:
    seat.page.click("#as-table")
    assert seat.page.is_visible("#tables table")
    assert not seat.page.is_visible("#drawing")
    assert "train-3" in seat.text("[data-table=workloads]")
    assert _violations(seat) == []
    shoot(seat, "table", tmp_path)
    seat.page.click("#as-table")
    assert seat.page.is_visible("#drawing")
    assert "not in the ledger" in seat.text("#drawing")


def test_the_language_is_remembered(seat: Seat) -> None:
    seat.speak("ko")
    seat.page.reload()
    seat.await_connected()
    assert seat.text("#check") == "5단계 채점"
    seat.await_true(lambda: "기다리는 줄" in seat.text("#drawing"), "the picture, too")
    seat.speak("en")
    assert seat.text("#check") == "Check step 5"


def test_moves_are_still_for_who_wants_no_motion(browser: Browser, worked: str, lab: Lab) -> None:
    seat = Seat.take(browser, worked, reduced_motion="reduce")
    try:
        seat.await_true(lambda: "train-1" in seat.text("#drawing"), "the picture")
        seat.ask(
            "window.moved = 0; const animate = Element.prototype.animate;"
            "Element.prototype.animate = function (...all)"
            " { moved += 1; return animate.apply(this, all); }; 0"
        )
        lab.shell("kubectl -n team-a delete job train-2 --wait=false")
        seat.await_true(
            lambda: "train-3 left the line: got quota" in seat.text("#moves"), "told", 20
        )
        seat.await_true(lambda: seat.page.query_selector(".chip.moved"), "marked")
        assert seat.ask("moved") == 0
    finally:
        seat.leave()


def test_a_reset_shows_on_the_open_page(seat: Seat, lab: Lab) -> None:
    seat.told.clear()  # the server goes and comes back: a browser tells of refused calls
    lab.done("reset", "--yes")
    seat.await_true(lambda: seat.text("#summary") == "0 of 8 steps passed", "the state", 20)
    seat.await_true(lambda: seat.verdict == "", "no verdict")
    seat.await_true(lambda: "no ClusterQueue" in seat.text("#drawing"), "an empty picture", 20)
    seat.await_connected()
    assert [line for line in seat.told if "net::ERR" not in line] == []
    seat.told.clear()


def test_the_policy_was_kept_and_nothing_went_wrong(seat: Seat) -> None:
    assert seat.violations == []
    assert seat.told == []
