"""The sentences of the project: collects them from code and brings the catalogs up to date.

Run as `python -m tests.catalog`; `collect()` is what the tests compare the catalogs with.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from lab.cli import CommandLine
from lab.text import DOMAIN, LOCALE_DIR, Speech

ROOT = Path(__file__).parent.parent
# Click's own words that a learner can meet.
CLICK_WORDS = (
    "Usage:",
    "Options",
    "Commands",
    "Show this message and exit.",
    "No such command {name!r}.",
    "No such option: {name}",
    "default: {default}",
)


def collect() -> set[str]:
    """Every sentence that a person can be shown, as its English template."""
    found = {message for folder in ("lab", "checks", "provision") for message in _said(folder)}
    return found | set(_check_titles()) | set(_help_texts()) | set(CLICK_WORDS)


def read_catalog(language: str) -> Catalog:
    with (LOCALE_DIR / language / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        return read_po(file, locale=language)


def _said(folder: str) -> list[str]:
    extracted = extract_from_dir(str(ROOT / folder), [("**.py", "python")], keywords={"say": None})
    return [message for _, _, message, _, _ in extracted if isinstance(message, str)]


def _check_titles() -> list[str]:
    titles = []
    for file in sorted((ROOT / "checks").glob("*/test_step_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                title = (ast.get_docstring(node) or "").splitlines()
                titles.append(title[0] if title else "")
    return titles


def _help_texts() -> list[str]:
    group = CommandLine(Speech("en"))
    context = click.Context(group)
    texts = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        options = [p.help for p in command.params if isinstance(p, click.Option)]
        texts += [text for text in (command.help, *options) if text]
    return texts


def main() -> None:
    template = Catalog(domain=DOMAIN, project="gpu-queue-lab", fuzzy=False)
    for sentence in sorted(collect()):
        template.add(sentence)
    with tempfile.NamedTemporaryFile(suffix=".pot") as pot:
        write_po(pot, template, omit_header=False, width=100)
        pot.flush()
        for language in ("ko",):
            target = LOCALE_DIR / language / "LC_MESSAGES" / f"{DOMAIN}.po"
            target.parent.mkdir(parents=True, exist_ok=True)
            verb = "update" if target.exists() else "init"
            more = ["--no-fuzzy-matching", "--ignore-obsolete"] if verb == "update" else []
            subprocess.run(
                [
                    *(sys.executable, "-m", "babel.messages.frontend", "--quiet"),
                    *(verb, "-i", pot.name, "-o", str(target)),
                    *("-l", language, "-D", DOMAIN, "--width=100", *more),
                ],
                check=True,
            )


if __name__ == "__main__":
    main()
