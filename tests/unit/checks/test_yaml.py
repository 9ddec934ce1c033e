"""YAML that kubectl reads is read alike; everything else is refused by line and cause."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.kit.yamltree import BadYaml, read_yaml


def values(text):
    return [value for value, _ in read_yaml(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: '1'\nc: 2Gi\n", {"a": 1, "b": "1", "c": "2Gi"}),
        ("a: true\nb: 'true'\nc: yes\nd: off\n", {"a": True, "b": "true", "c": True, "d": False}),
        ("a: 010\nb: 0x2\nc: 2.0\nd: 2e0\n", {"a": 8, "b": 2, "c": 2.0, "d": 2.0}),
        ("a:\nb: ~\nc: null\n", {"a": None, "b": None, "c": None}),
        ("a: 2024-01-01\nb: 1:30\n", {"a": "2024-01-01", "b": "1:30"}),
        ("x: &n [1]\ny: *n\n", {"x": [1], "y": [1]}),
        ("b: &b {k: 1, l: 1}\nc: {<<: *b, l: 2}\n", {"b": {"k": 1, "l": 1}, "c": {"k": 1, "l": 2}}),
        ("'<<': 3\n", {"<<": 3}),
        ("a: |\n  x\nb: >-\n  1\n  2\n", {"a": "x\n", "b": "1 2"}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("a: !!str 1\nb: !!int 2\n", {"a": "1", "b": 2}),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ],
)
def test_what_kubectl_reads(text, value):
    assert values(text) == [value]


def test_all_documents_are_read_and_empty_ones_kept_as_none():
    assert values("---\n# only a comment\n---\na: 1\n...\n---\nb: 2\n") == [
        None,
        {"a": 1},
        {"b": 2},
    ]


def test_every_field_knows_its_line():
    [(_, lines)] = read_yaml("a: 1\nb:\n  c:\n  - d: x\n    e: y\n")
    assert lines[("a",)] == 1
    assert lines[("b", "c", 0, "e")] == 5


DEEP_FLOW, DEEP_BLOCK = "[" * 100_000, "- " * 50_000
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 10)}]\n"
    for old, new in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a:\n\tb: 1\n", 2, "tab"),
        ("a: {{}}\n", 1, "{}"),
        ("a: 1\nb: 2\na: 3\n", 3, "a stands twice"),
        ("a:\n  b: 1\n  b: 2\n", 3, "b stands twice"),
        ("a: !!python/object:os.system x\n", 1, "python"),
        ("a: !!binary aGk=\n", 1, "binary"),
        ("a: !!set {x}\n", 1, "set"),
        ("a: .inf\n", 1, ".inf"),
        ("a: .nan\n", 1, ".nan"),
        (f"a: {'7' * 5000}\n", 1, "5000"),
        ("a: *nowhere\n", 1, "nowhere"),
        ("a: &a [*a]\n", 1, "*a"),
        ("<<: 3\n", 1, "<<"),
        ("a: [\n", None, "not YAML"),
        ("a: b: c\n", 1, "not YAML"),
        (DEEP_FLOW, 1, "nest"),
        (DEEP_BLOCK, 1, "nest"),
        (LAUGHS, None, "too large"),
        ("a: \x07\n", None, "not YAML"),
    ],
    ids=lambda value: value[:16] if isinstance(value, str) else str(value),
)
def test_what_is_refused_names_line_and_cause(text, line, word):
    with pytest.raises(BadYaml) as bad:
        read_yaml(text)
    assert word in str(bad.value.why)
    assert line is None or bad.value.line == line


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#\n\t ,0.<~", max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(BadYaml):
        read_yaml(text)
