"""What makes a Debian's files leaves nothing when it takes too long, and takes nothing with it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import psutil
import pytest

from provision.errors import TargetError
from tests.machines import needs
from tests.machines.bootstrap import run_apart

MISSING = needs.missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not tried without {MISSING}")

# As mmdebstrap does it: a folder of the host's is in the tree while children write there.
SCRIPT = """
mount --bind "$1" "$2/shared"
(while :; do echo more >"$2/written"; rm "$2/written"; done) &
touch "$2/begun"
sleep 1000
"""


def test_one_that_takes_too_long_leaves_no_mount_and_no_process(tmp_path: Path):
    theirs, tree = tmp_path / "theirs", tmp_path / "tree"
    theirs.mkdir()
    (tree / "shared").mkdir(parents=True)
    (theirs / "kept").touch()
    command = ("sh", "-euc", SCRIPT, "sh", theirs, tree)
    started = time.monotonic()
    with pytest.raises(TargetError, match="timed out"):
        run_apart(*command, within=5, temporary=str(tmp_path))
    assert time.monotonic() - started < 100
    assert (tree / "begun").exists()
    words = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
    assert not [line for line in words if str(tree) in line]
    assert str(tree) not in Path("/proc/self/mounts").read_text("utf-8")
    shutil.rmtree(tree)
    assert (theirs / "kept").exists()


def test_one_that_fails_says_why(tmp_path: Path):
    with pytest.raises(TargetError, match="ended with 7: it went wrong"):
        run_apart("sh", "-c", "echo it went wrong; exit 7", within=60, temporary=str(tmp_path))
