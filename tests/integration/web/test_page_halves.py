"""What the page's tmux makes of input that arrives in parts, as a long paste does."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

import lab.web
from provision.message import say
from provision.waiting import wait_until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux"),
]

SETTINGS = Path(lab.web.__file__).with_name("tmux.conf")
APART = 0.05  # seconds between the parts of one character
TEXT = "가나다\n"


def test_a_character_in_two_parts_arrives_whole(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    server, ready, kept = (tmp_path / name for name in ("server", "ready", "kept"))
    shell = f"stty -echo; : > {kept}; touch {ready}; cat > {kept}"
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    tmux = ["tmux", "-u", "-S", str(server), "-f", str(SETTINGS)]
    client = subprocess.Popen(
        [*tmux, "new-session", shell],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    reader = threading.Thread(target=_read_all, args=(ours,))
    reader.start()
    try:
        wait_until(lambda: None if ready.exists() else say("no shell"), within=20)
        text = TEXT.encode()
        os.write(ours, text[:1])
        time.sleep(APART)
        os.write(ours, text[1:])
        wait_until(lambda: None if kept.stat().st_size else say("nothing arrived"), within=20)
        assert kept.read_text(encoding="utf-8") == TEXT
    finally:
        subprocess.run([*tmux, "kill-server"], env=environment, check=False, capture_output=True)
        client.wait(20)
        reader.join(20)
        os.close(ours)


def _read_all(end: int) -> None:
    """Take what is drawn until the other end is closed, so that it is never full."""
    with contextlib.suppress(OSError):
        while os.read(end, 1 << 16):
            pass
