"""Hostile files at every reader: no crash, no second lost, never a pass."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.kit.expect import plain
from tests.unit.checks.conftest import MESSAGE
from tests.unit.checks.readers import RIGHT, judge, told

FEW, MANY = 40, 500
SLOWEST = 1.0  # seconds of processor time; other work on the machine does not count
YAML_SIGNS = "abk:-[]{}&*!|>'\"#\n\t ,0.<~%@`=?\r\u00a0\uff1a\u201c\u200b\ufeff\x85\u2028\0"
KEYS = ("apiVersion", "kind", "metadata", "name", "spec", "items", "<<", "?", "admitted")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["1e999", "-0", "0x", "9" * 60, ".nan", "2" + "0" * 50, "1_0", "1:30"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=25,
)


def spoil(text: str, where: int, how: str) -> str:
    """A right file made wrong, in one of the ways that people and editors make it wrong."""
    lines = text.split("\n")
    inner = [n for n, line in enumerate(lines) if line.startswith(" ")] or [0]
    number = inner[where % len(inner)]
    line = lines[number]
    colon = [n for n, one in enumerate(lines) if ":" in one or "=" in one]
    keyed = colon[where % len(colon)]
    if how == "tab":
        lines[number] = "\t" + line.lstrip()
    elif how == "nul":
        lines[number] = line[: where % (len(line) + 1)] + "\0" + line[where % (len(line) + 1) :]
    elif how == "wide-colon":
        lines[keyed] = lines[keyed].replace(":", "：").replace("=", "＝")
    elif how == "braces":
        lines[keyed] = lines[keyed].split(":")[0].split("=")[0] + ": {{}}"
    elif how == "twice":
        lines = [*lines, *lines]
    elif how == "cut":
        return text[: where % max(len(text.rstrip()) - 14, 1)]
    elif how == "smart":
        return text.replace('"', "“").replace("=", "“=") if '"' in text or "=" in text else "“"
    else:
        lines[keyed] = ""
    return "\n".join(lines)


OF_TEXT = ("nul", "wide-colon", "braces", "cut", "smart")
SPOILED = (*OF_TEXT, "tab", "twice")
HEAVY = {
    "flow": "[" * 60_000,
    "maps": "{a: " * 30_000,
    "dashes": "- " * 60_000,
    "anchors": "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 900)),
    "laughs": "a0: &a0 [x,x]\n"
    + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "merges": "m: &m {k: v}\n" + "x: {<<: [" + ",".join(["*m"] * 5_000) + "]}\n",
    "keys": "".join(f"k{n}: {n}\n" for n in range(12_000)),
    "quotes": '"' * 200_000,
    "equals": "=" * 200_000,
    "lines": "\n" * 250_000 + "x",
    "commas": '{"admitted": [' + "1," * 80_000,
    "documents": "---\na: 1\n" * 8_000,
    "words": MESSAGE.split("quota")[0] * 3_000,
    "denials": "not WaitingForQuota " * 8_000,
    "digits": '{"admitted": ' + "9" * 200_000 + "}",
    "same-keys": "{" + ",".join(f'"k{n % 5000}": 1' for n in range(10_000)) + "}",
    "many-keys": "{" + ",".join(f'"k{n}": 1' for n in range(18_000)) + "}",
    "long-keys": "{" + ",".join(f'"{n:040}": 1' for n in range(5_000)) + "}",
    "nested-lists": "[" * 55 + ",".join("1" * 60_000) + "]" * 55,
    "comment": "# " + "#" * 200_000,
}


def never_passes(name: str, content: bytes) -> None:
    """The reader refuses these bytes, in time, and says four things about it."""
    began = time.process_time()
    refused = judge(name, content)
    spent = time.process_time() - began
    assert spent < SLOWEST, f"{spent:.2f} s for {content[:80]!r}"
    assert refused is not None, f"{name} passed with {content[:300]!r}"
    parts = refused.finding
    said = (parts.looked_at, parts.expected, parts.found, parts.next_move)
    assert all(str(part).strip() for part in said)
    assert len(told(refused)) < 1500
    assert all(c.isprintable() for c in str(plain(parts.found)))


def tells_the_reason(text: str) -> bool:
    words = " ".join(text.split()).casefold()
    return "waitingforquota" in words or any(
        piece in words for piece in (MESSAGE.casefold()[:60], MESSAGE.casefold()[-60:])
    )


def is_an_answer(name: str, content: bytes) -> bool:
    """Chance (or Hypothesis, which tries texts that it finds in the sources) hit a right answer."""
    text = content.decode("utf-8", "replace")
    if name == "usage.json":
        return is_right_ledger(content)
    if name == "waiting.txt":
        return "\0" not in text and tells_the_reason(text)
    if name == "bypass.txt":
        return all(line in text.split("\n") for line in RIGHT[name].split())
    return text in RIGHT.values()


def is_right_ledger(content: bytes) -> bool:
    try:
        found = json.loads(content)
        wanted = {"admitted": 2, "pending": 1, "gpu_reserved": 2}
        return all(Fraction(str(found[key])) == value for key, value in wanted.items())
    except (ValueError, KeyError, TypeError, IndexError):
        return False


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def contents(name: str) -> st.SearchStrategy[bytes]:
    """Bytes of any kind, text of awkward signs, trees as YAML and JSON, right answers spoiled."""
    trees = TREES.map(lambda tree: json.dumps(tree, ensure_ascii=False, default=str))
    ways = {"waiting.txt": ("nul",), "bypass.txt": OF_TEXT, "usage.json": OF_TEXT}.get(
        name, SPOILED
    )
    if name in ("flavor.yaml", "cq.yaml"):
        ways = (*ways, "line-lost")  # in the others some lines may go
    spoiled = st.builds(spoil, st.just(RIGHT[name]), st.integers(0, 10_000), st.sampled_from(ways))
    kinds = [
        st.binary(max_size=400),
        st.text(alphabet=YAML_SIGNS, max_size=120).map(lambda text: text.encode()),
        st.text(max_size=200).filter(lambda text: "apiVersion" not in text).map(as_bytes),
        trees.map(as_bytes),
        trees.map(lambda text: as_bytes(f"kind: {text}\nspec: {text}\n")),
        spoiled.map(lambda text: text.encode()),
    ]
    return st.one_of(kinds)


def throw(name: str, count: int) -> None:
    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(contents(name).filter(lambda one: not is_an_answer(name, one)))
    def run(content: bytes) -> None:
        never_passes(name, content)

    run()


@pytest.mark.parametrize("name", RIGHT)
def test_some_hostile_files(name):
    throw(name, FEW)


@pytest.mark.full
@pytest.mark.parametrize("name", RIGHT)
def test_many_hostile_files(name):
    throw(name, MANY)


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.parametrize("name", RIGHT)
def test_files_that_are_made_to_take_long(name, heavy):
    text = HEAVY[heavy]
    if name == "waiting.txt" and tells_the_reason(text) and heavy != "denials":
        text = text.replace("insufficient", "")
    never_passes(name, text.encode())
