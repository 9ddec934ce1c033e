"""What `make` lists: the verbs of the Makefile with their words, learners' first.

Run as `python3 -m lab.verbs`, before anything is installed: nothing but the standard library.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from lab.language import choose_language

ROOT = Path(__file__).parent.parent
MAKEFILE = ROOT / "Makefile"
SPLIT = "# --- for developers ---"
_VERB = re.compile(r"(?m)^([a-z][a-z-]*):.*?## (.+)$")
_HEADS = {
    "en": ("For learners", "For developers"),
    "ko": ("실습하는 사람에게", "개발하는 사람에게"),
}


def read_verbs(makefile: str) -> tuple[dict[str, str], dict[str, str]]:
    """Verbs and their words in the order of the file: those of learners, those of developers."""
    parts = makefile.partition(f"\n{SPLIT}\n")
    learners, developers = (dict(_VERB.findall(part)) for part in (parts[0], parts[2]))
    return learners, developers


def read_words(language: str) -> dict[str, str]:
    """The words of the verbs in another language than English: lines of `verb: words`."""
    file = Path(__file__).parent / "locale" / language / "verbs.txt"
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def draw_verbs(makefile: str, language: str) -> str:
    """Two blocks with a line for each verb, their words in one column."""
    words: Mapping[str, str] = read_words(language)
    learners, developers = read_verbs(makefile)
    room = max(len(verb) for verb in (*learners, *developers))
    first, second = _HEADS[language]
    lines = []
    for head, block in ((first, learners), (second, developers)):
        lines += ["", head]
        lines += [f"  make {v.ljust(room)}  {words.get(v, text)}" for v, text in block.items()]
    return "\n".join(lines[1:]) + "\n"


if __name__ == "__main__":
    text = draw_verbs(MAKEFILE.read_text(encoding="utf-8"), choose_language(os.environ))
    sys.stdout.buffer.write(text.encode())
