"""No sentence goes without its translation, and no translation loses a value."""

import string

import pytest

from lab.text import LANGUAGES
from tests.catalog import collect, read_catalog

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


def _none():
    class Nothing:
        string = ""

    return Nothing
