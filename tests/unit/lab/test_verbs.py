"""`make` alone: every verb in its block, in both languages, with nothing installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli import CommandLine
from lab.text import LANGUAGES, Speech, width
from lab.verbs import draw_verbs, read_verbs, read_words

ROOT = Path(__file__).parents[3]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
LEARNERS, DEVELOPERS = read_verbs(MAKEFILE)


def test_every_verb_is_listed_in_one_of_two_blocks():
    phony = re.search(r"\.PHONY:((?:.|\\\n)+?)\n\n", MAKEFILE)
    wanted = set(phony[1].replace("\\", " ").split())
    assert set(LEARNERS) | set(DEVELOPERS) == wanted
    assert set(LEARNERS).isdisjoint(DEVELOPERS)
    commands = set(CommandLine(Speech("en")).list_commands(None)) - {"grade-case", "hub-demo"}
    assert commands <= set(LEARNERS)
    assert {"test", "lint", "kill-matrix"} <= set(DEVELOPERS)
    assert next(iter(LEARNERS)) == "provision"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_are_in_one_column_of_a_terminal(language):
    lines = draw_verbs(MAKEFILE, language).splitlines()
    verbs = [line for line in lines if line.startswith("  make ")]
    assert len(verbs) == len(LEARNERS) + len(DEVELOPERS)
    assert len({re.match(r"  make \S+ +", line).end() for line in verbs}) == 1
    assert [line for line in lines if width(line) > 80] == []


def test_each_verb_has_korean_words():
    assert set(read_words("ko")) == set(LEARNERS) | set(DEVELOPERS)


@pytest.mark.parametrize(("language", "word"), [("en", "For learners"), ("ko", "실습")])
def test_nothing_must_be_installed(language, word):
    done = subprocess.run(
        [sys.executable, "-S", "-m", "lab.verbs"],
        cwd=ROOT,
        env={"LAB_LANG": language, "LANG": "C"},
        capture_output=True,
        check=True,
    )
    assert word in done.stdout.decode()
    assert done.stderr == b""
