"""The page's own scripts: their unit tests, and the names they share with template and words."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.text import LANGUAGES, Speech
from lab.web.words import WORDS, words

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "lab" / "web" / "static"
SCRIPTS = {file.name: file.read_text("utf-8") for file in STATIC.glob("*.js")}
TEMPLATE = (ROOT / "lab" / "web" / "templates" / "page.html").read_text("utf-8")


def test_the_scripts_pass_their_own_tests() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js: the page's scripts are not unit-tested")
    files = sorted(map(str, (ROOT / "tests" / "web").glob("*.test.mjs")))
    done = subprocess.run(
        [node, "--test", *files], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# pass [1-9]", done.stdout, re.M), done.stdout


def test_every_word_that_is_asked_for_is_there() -> None:
    asked = set(re.findall(r'data-word(?:-label)?="(\w+)"', TEMPLATE))
    for text in SCRIPTS.values():
        asked |= set(re.findall(r"\bt\('(\w+)'", text))
    assert asked
    assert not asked - set(WORDS)


def test_no_word_is_left_over() -> None:
    everything = TEMPLATE + "".join(SCRIPTS.values())
    composed = ("column_", "moved_", "outcome_", "key_", "language_", "terminal_", "table_")
    unused = [
        key
        for key in WORDS
        if not key.startswith(composed) and not re.search(rf"['\"]{key}['\"]", everything)
    ]
    assert not unused


def test_words_keep_their_places_for_values_in_every_language() -> None:
    for language in LANGUAGES:
        for key, text in words(Speech(language)).items():
            assert set(re.findall(r"{(\w+)}", text)) == set(
                re.findall(r"{(\w+)}", WORDS[key].template)
            ), (language, key)


def test_every_element_that_a_script_asks_for_is_in_the_template() -> None:
    ids = set(re.findall(r'\bid="([\w-]+)"', TEMPLATE))
    asked = {name for text in SCRIPTS.values() for name in re.findall(r"byId\('([\w-]+)'\)", text)}
    assert asked
    assert not asked - ids


def test_ids_are_unique_and_references_lead_somewhere() -> None:
    ids = re.findall(r'\bid="([\w-]+)"', TEMPLATE)
    assert len(ids) == len(set(ids))
    named = r'(?:aria-controls|aria-labelledby|for)="([\w-]+)"'
    assert not set(re.findall(named, TEMPLATE)) - set(ids)


def test_no_script_and_no_style_stands_in_the_page() -> None:
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", TEMPLATE)


def test_only_what_the_server_rendered_goes_in_as_html() -> None:
    """Markdown without raw HTML and highlighted code; everything else is text."""
    found = {name: text.count(".innerHTML") for name, text in SCRIPTS.items()}
    assert {name: n for name, n in found.items() if n} == {
        "steps.js": 1,
        "hints.js": 1,
        "files.js": 1,
    }


def test_scripts_import_nothing_from_elsewhere() -> None:
    for name, text in SCRIPTS.items():
        for source in re.findall(r"(?:from|import\() ?'([^']+)'", text):
            assert re.fullmatch(r"\./[\w.-]+", source), (name, source)
