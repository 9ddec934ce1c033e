"""No sentence goes without its translation, and no translation loses a value."""

import ast
import string

import pytest

from lab.text import LANGUAGES
from tests.catalog import collect, read_catalog
from tests.unit.test_structure import MODULES

TRANSLATED = [language for language in LANGUAGES if language != "en"]


def fields(template: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(template) if field}


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_translated(language):
    catalog = read_catalog(language)
    missing = [text for text in sorted(collect()) if not (catalog.get(text) or _none()).string]
    assert not missing, f"run make catalog and translate: {missing}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_translation_keeps_its_values(language):
    for message in read_catalog(language):
        if message.id and message.string:
            assert fields(message.string) == fields(message.id), message.id
            assert not message.fuzzy, message.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_is_translated_that_is_no_longer_said(language):
    said = collect()
    stale = [m.id for m in read_catalog(language) if m.id and m.id not in said]
    assert not stale, "run make catalog"


def test_no_sentence_hides_from_the_collector():
    """Babel does not look into f-strings, and it needs a literal to collect."""
    for file in MODULES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        inside = {
            id(n) for j in ast.walk(tree) if isinstance(j, ast.JoinedStr) for n in ast.walk(j)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                assert id(node) not in inside, f"{file}:{node.lineno}: say() in an f-string"
                literal = node.args and isinstance(node.args[0], ast.Constant)
                assert literal, f"{file}:{node.lineno}: say() without a literal"


def _none():
    class Nothing:
        string = ""

    return Nothing
