"""Manifest files, right in any form and refused with file, line and cause."""

from pathlib import Path

import pytest

from checks.kit.files import TextFile
from checks.kit.manifests import parse_json, read_documents
from checks.kit.odd import first_oddity
from checks.outcome import Mismatch


def text_file(text, name="cq.yaml"):
    return TextFile(name, Path("/w") / name, text, len(text), 0)


def kinds(text):
    return [document.content.get("kind") for document in read_documents(text_file(text))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kind: A\n", ["A"]),
        ("kind: A\n---\nkind: B\n", ["A", "B"]),
        ("# c\n---\n---\nkind: A\n", ["A"]),
        ('{\n\t"kind": "A"\n}', ["A"]),
        ('{"kind":"A"}', ["A"]),
        ("{kind: A}", ["A"]),
        ('{"kind": "A",}', ["A"]),
        ('{"kind": "A"}\n{"kind": "B"}\n', ["A", "B"]),
        (' {"kind": "A"}{"kind": "List", "items": [{"kind": "B"}]}', ["A", "B"]),
        ('{"kind": "A"}\n---\n{"kind": "B"}\n', ["A", "B"]),
        ("kind: List\nitems: [{kind: A}, {kind: B}]\n", ["A", "B"]),
        ('{"kind": "AList", "items": [{"kind": "A"}]}', ["A"]),
        ("kind: List\nitems:\n- {kind: List, items: [{kind: A}]}\n", ["A"]),
        ("kind: List\nitems: 3\n", ["List"]),
    ],
)
def test_objects_in_any_form(text, wanted):
    assert kinds(text) == wanted


def test_lines_survive_the_unwrapping_of_a_list():
    [document] = read_documents(text_file("kind: List\nitems:\n- kind: A\n  spec:\n    x: 1\n"))
    assert document.line_of(("spec", "x")) == 5
    assert document.line_of(("spec", "y")) == 5 or document.line_of(("spec", "y")) == 4
    assert document.line_of(("nothing",)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no object"]),
        ("# nothing\n", ["no object"]),
        ("hello\n", ["hello", "not an object"]),
        ("- a\n- b\n", ["not an object"]),
        ("kind\uff1a A\n", ["line 1", "U+FF1A"]),
        ("kind: A\nspec: {{}}\n", ["line 2", "{}"]),
        ("kind: A\n\tx: 1\n", ["line 2", "tab"]),
        ("kind: A\nkind: B\n", ["line 2", "kind stands twice"]),
        ('{\n\t"a": 1,\n\t"a": 2\n}', ["a stands twice"]),
        ('{"a": 1}\n{"a": 1,\n\t"a": 2}', ["a stands twice"]),
        ('{"a": 1} 2', ["2, not an object"]),
    ],
)
def test_refusals_name_place_and_cause(text, words):
    with pytest.raises(Mismatch) as error:
        read_documents(text_file(text))
    finding = error.value.finding
    told = f"{finding.looked_at} {finding.expected} {finding.found} {finding.next_move}"
    assert "cq.yaml" in told
    for word in words:
        assert word in told


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"a": 1,}', "JSON"),
        ("a: 1", "JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', "a stands twice"),
        ('{"a": %s}' % ("7" * 5000), "5000"),
        ("[" * 100_000, "deeper"),
        ("{} {}", "JSON"),
        ("", "JSON"),
    ],
    ids=lambda value: value[:16],
)
def test_json_is_strict(text, word):
    with pytest.raises(Mismatch) as error:
        parse_json(text_file(text, "usage.json"))
    assert "usage.json" in str(error.value.finding.looked_at)
    assert word in str(error.value.finding.found)


def test_good_json_is_taken():
    assert parse_json(text_file(' {"a": 2, "b": "2", "c": 2.0} ')) == {"a": 2, "b": "2", "c": 2.0}


@pytest.mark.parametrize(
    ("text", "line", "char"),
    [
        ("a: 1\nb: \u201cx\u201d\n", 2, "\u201c"),
        ("a:\u00a01\n", 1, "\u00a0"),
        ("a: ${NAME}\n", 1, "${NAME}"),
        ("# \u201cx\u201d\na: {{x}}\n", 2, "{{"),
    ],
)
def test_odd_characters_are_found_outside_comments(text, line, char):
    oddity = first_oddity(text)
    assert (oddity.line, oddity.text) == (line, char)


def test_plain_text_holds_nothing_odd():
    assert first_oddity("a: '가짜' # “c”\nb: {}\n") is None
