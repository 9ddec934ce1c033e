"""The terminal of the page: what is typed arrives, what is lost comes back, and the way out."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.integration.cli import Lab
from tests.integration.web.seat import Seat

pytestmark = pytest.mark.integration
FORGET = "Control+u"  # takes its turn among the keys; Control+c would not wait for a completion
BACK_SECONDS = 15  # the supervisor starts the server anew, and the page finds it by itself
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  document.querySelector('#terminal-1 textarea').dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
}"""
LINKS = """() => {
  const link = document.querySelector('#terminal-link');
  window.links = [];
  new MutationObserver(() => links.push(link.dataset.state)).observe(link, { attributes: true });
}"""
EDGES = """() => [...document.querySelectorAll('#terminal-1 .xterm-rows > div')]
  .filter((row) => row.textContent.trimEnd().endsWith('|') && !row.textContent.includes('printf'))
  .map((row) => {
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    let last = null;
    while (walker.nextNode()) if (walker.currentNode.data.includes('|')) last = walker.currentNode;
    const range = document.createRange();
    range.setStart(last, last.data.lastIndexOf('|'));
    range.setEnd(last, last.data.lastIndexOf('|') + 1);
    return range.getBoundingClientRect().left;
  })"""


@pytest.fixture(scope="module")
def seat(browser: Browser, link: str) -> Iterator[Seat]:
    """The page of a lab in some state."""
    seat = Seat.take(browser, link)
    seat.type("cd; cd -; PS1='$ '; clear\n")
    yield seat
    seat.leave()


@pytest.fixture(autouse=True)
def clear(seat: Seat) -> None:
    """A screen on which only what the test did is seen."""
    seat.type("clear\n")
    seat.await_true(lambda: seat.screen() == "$", "an empty screen")


def test_its_shell_is_the_one_of_lab_shell(seat: Seat, lab: Lab) -> None:
    seat.run("pwd", str(lab.workspace))
    seat.run("echo $KUBECONFIG", str(lab.status()["kubeconfig"]))
    seat.run(
        "command -v lab >/dev/null && kubectl version --client >/dev/null && echo both", "both"
    )


def test_it_takes_the_size_of_its_panel(seat: Seat) -> None:
    drawn = "document.querySelectorAll('#terminal-1 .xterm-rows > div').length"

    def is_told() -> bool:
        seat.type("clear; stty size\n")
        seat.await_true(lambda: seat.screen()[:1].isdigit(), "the size")
        return int(seat.screen().split()[0]) == seat.ask(drawn)

    seat.await_true(is_told, "the shell's rows are those of the page")
    before = seat.ask(drawn)
    seat.page.set_viewport_size({"width": 1000, "height": 620})
    seat.await_true(lambda: seat.ask(drawn) < before, "fewer rows")
    seat.await_true(is_told, "the shell knows")
    seat.page.set_viewport_size({"width": 1440, "height": 900})
    seat.await_true(lambda: seat.ask(drawn) == before, "as before")


def test_a_pasted_megabyte_arrives_whole(seat: Seat, lab: Lab) -> None:
    line = "가나다 0123456789 paste " * 3
    text = "".join(f"{number:06} {line}\n" for number in range(12_000))
    assert len(text.encode()) > 1 << 20
    # At a prompt a paste is put between brackets; cat would take them for text.
    taking = "stty -echo; echo take-$((1+1)); cat > pasted.txt; stty echo; sha256sum < pasted.txt"
    seat.run(taking, "take-2")
    seat.ask(PASTE, text)
    seat.page.keyboard.press("Control+d")
    wanted = hashlib.sha256(text.encode()).hexdigest()
    try:
        seat.await_true(lambda: wanted in seat.screen(), "all of it", within=60)
    finally:
        (lab.workspace / "pasted.txt").unlink()


def test_a_paste_of_many_lines_at_the_prompt_runs_nothing(seat: Seat) -> None:
    seat.ask(PASTE, "echo one\necho two")
    seat.await_true(lambda: "echo two" in seat.screen(), "both lines are there")
    assert "one" not in seat.screen().splitlines()
    seat.page.keyboard.press(FORGET)


def test_hangul_through_an_input_method_arrives_whole(seat: Seat) -> None:
    seat.type("echo ")
    session = seat.context.new_cdp_session(seat.page)
    for syllable, steps in (("한", "ㅎ하한"), ("글", "ㄱ그글")):
        for text in steps:
            session.send(
                "Input.imeSetComposition", {"text": text, "selectionStart": 1, "selectionEnd": 1}
            )
        session.send("Input.insertText", {"text": syllable})
    seat.await_true(lambda: "echo 한글" in seat.screen(), "both syllables, once each")
    seat.page.keyboard.press("Enter")
    seat.await_true(lambda: "한글" in seat.screen().splitlines(), "the echo")
    session.detach()


def test_wide_characters_take_two_columns(seat: Seat) -> None:
    seat.run("printf 'abcdef|\\n가나다|\\n日本語|\\n'", "日本語|")
    edges = seat.ask(EDGES)
    assert len(edges) == 3
    assert max(edges) - min(edges) < 1.5, edges


def test_tab_is_the_shells_and_one_chord_leaves_the_terminal(seat: Seat) -> None:
    focused = "document.activeElement.id || document.activeElement.className"
    seat.type("kubectl versi")
    seat.page.keyboard.press("Tab")
    seat.await_true(lambda: seat.screen() == "$ kubectl version", "the completed word")
    assert "xterm" in seat.ask(focused)
    seat.page.keyboard.press("Control+Shift+X")
    assert seat.ask(focused) == "reader"
    seat.page.keyboard.press("Shift+Tab")
    assert seat.ask(focused) == "tab-1"
    seat.page.keyboard.press("Tab")
    seat.page.keyboard.press("Tab")
    assert "xterm" in seat.ask(focused)
    seat.page.keyboard.press("Control+Shift+X")
    seat.page.keyboard.press("Tab")
    assert seat.ask(focused) == "divide-rows"
    assert "leave the terminal Ctrl+Shift+X" in seat.text("#key-line")
    seat.page.click("#terminal-1 .xterm-screen")
    seat.page.keyboard.press(FORGET)


def test_what_has_scrolled_by_comes_back_by_keyboard(seat: Seat) -> None:
    seat.run("seq 300", "300")
    seat.page.keyboard.press("Shift+PageUp")
    seat.await_true(lambda: "300" not in seat.screen().splitlines(), "a page back")
    seat.page.keyboard.press("PageUp")
    seat.await_true(lambda: "260" in seat.screen().splitlines(), "another one")
    seat.page.keyboard.press("q")
    seat.await_true(lambda: seat.screen().endswith("300\n$"), "the prompt")


def test_selected_text_is_copied(seat: Seat) -> None:
    seat.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seat.run("echo copy-this-word", "copy-this-word")
    box = seat.page.locator("#terminal-1 .xterm-rows > div:nth-child(2)").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    seat.page.keyboard.down("Shift")  # tmux has the mouse; with Shift the browser selects
    seat.page.mouse.move(box["x"] + 1, y)
    seat.page.mouse.down()
    seat.page.mouse.move(box["x"] + 300, y, steps=4)
    seat.page.mouse.up()
    seat.page.keyboard.up("Shift")
    seat.page.keyboard.press("Control+Shift+C")
    seat.await_true(
        lambda: "copy-this-word" in seat.ask("navigator.clipboard.readText()"), "the clipboard"
    )


def test_the_second_terminal_is_a_shell_of_its_own(seat: Seat) -> None:
    seat.run("WHO=first; echo set", "set")
    seat.page.click("#tab-2")
    seat.await_true(lambda: seat.screen(2).rstrip().endswith(("$", "#")), "a second prompt")
    seat.page.keyboard.type("echo who-$WHO-\n")  # the mouse that chose it put the keys there, too
    seat.await_true(lambda: "who--" in seat.screen(2), "it knows nothing of the first")
    seat.page.click("#tab-1")
    seat.run("echo who-$WHO-", "who-first-")


def test_two_windows_share_the_shell(seat: Seat, browser: Browser) -> None:
    seat.run("SHARED=yes; echo $SHARED-1", "yes-1")
    other = Seat.take(browser, seat.link, viewport={"width": 900, "height": 700})
    try:
        other.run("echo $SHARED-2", "yes-2")
        seat.await_true(lambda: "yes-2" in seat.screen(), "the first sees it, too")
    finally:
        other.leave()


def test_a_screen_reader_gets_the_rows_as_text(seat: Seat) -> None:
    seat.page.click("#reader")
    seat.run("echo to-be-read", "to-be-read")
    tree = "document.querySelector('#terminal-1 .xterm-accessibility-tree')?.innerText ?? ''"
    seat.await_true(lambda: "to-be-read" in seat.ask(tree), "the rows are read")
    seat.page.click("#reader")


def test_after_the_end_of_the_shell_there_is_a_new_one(seat: Seat) -> None:
    seat.ask(LINKS)
    seat.type("exit\n")
    seat.await_true(lambda: seat.ask("links")[-2:] == ["lost", "connected"], "a new connection")
    seat.await_true(lambda: seat.screen().rstrip().endswith(("$", "#")), "a prompt")
    seat.run("PS1='$ '; echo again", "again")


def test_typing_goes_on_after_the_server_was_killed(seat: Seat, lab: Lab) -> None:
    seat.run("KEPT=shell; echo one", "one")
    seat.type("echo $KEPT-bef")
    seat.await_true(lambda: "$KEPT-bef" in seat.screen(), "half of it")
    os.kill(int(lab.component("page")["pid"]), signal.SIGKILL)
    state = "document.querySelector('#terminal-link').dataset.state"
    seat.await_true(lambda: seat.ask(state) == "lost", "the page saw it")
    seat.await_true(lambda: seat.text("#picture-state").startswith("not live"), "so is the picture")
    seat.page.keyboard.type("ore-and-after")  # while nobody listens
    seat.await_true(lambda: seat.ask(state) == "connected", "it is back", BACK_SECONDS)
    seat.await_true(lambda: "bef" + "ore-and-after" in seat.screen(), "nothing is lost")
    seat.page.keyboard.press("Enter")
    seat.await_true(lambda: "shell-before-and-after" in seat.screen().splitlines(), "the shell is")
    seat.await_true(lambda: seat.text("#link") == "live", "the stream is back", BACK_SECONDS)
    seat.await_true(lambda: seat.text("#picture-state").startswith("live"), "and the picture")


def test_a_check_outlives_the_server_and_counts_once(seat: Seat, lab: Lab) -> None:
    seat.open_step(1)
    before = lab.progress.read_text().count('"event":"graded"') if lab.progress.exists() else 0
    seat.page.click("#check")
    seat.await_true(lambda: "Checking" in seat.text("#verdict"), "it runs")
    os.kill(int(lab.component("page")["pid"]), signal.SIGKILL)
    seat.await_true(
        lambda: (
            seat.ask("document.querySelector('#check').ariaDisabled") == "false"
            and seat.verdict in ("PASS", "NOT YET")
        ),
        "the verdict came all the same",
        BACK_SECONDS + 15,
    )
    assert lab.progress.read_text().count('"event":"graded"') == before + 1


def test_the_policy_was_kept(seat: Seat) -> None:
    assert seat.violations == []
