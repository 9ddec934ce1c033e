"""How long a key of the page takes to be seen: from its event to the changed row on the screen."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.integration.web.seat import Seat

WATCH = """() => {
  const rows = document.querySelector('#terminal-1 .xterm-rows');
  window.echoes = [];
  let pressed = 0;
  addEventListener('keydown', (event) => { pressed = event.timeStamp; }, { capture: true });
  new MutationObserver(() => {
    if (pressed) echoes.push(performance.now() - pressed);
    pressed = 0;
  }).observe(rows, { childList: true, subtree: true, characterData: true });
}"""


def echo_times(browser: Browser, link: str, keys: int) -> tuple[float, ...]:
    """Milliseconds of each key: through server, tmux and shell, and back into the drawn page."""
    seat = Seat.take(browser, link)
    try:
        seat.type("clear\n")
        seat.await_true(lambda: len(seat.screen().splitlines()) == 1, "an empty screen")
        seat.ask(WATCH)
        for count in range(keys):
            seat.page.keyboard.press("Backspace" if count % 2 else "x")
            seat.await_true(lambda n=count: seat.ask("echoes.length") > n, "the echo", every=0.005)
        return tuple(seat.ask("echoes"))
    finally:
        seat.leave()
