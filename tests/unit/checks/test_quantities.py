"""Quantities are compared by amount, whatever their spelling."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.kit.quantities import (
    BadQuantity,
    is_same_amount,
    parse_quantity,
    show_amount,
    sum_amounts,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2, "2"),
        ("2000m", 2),
        ("2.0", 2),
        (2.0, "2"),
        ("2e0", 2),
        ("2E0", 2),
        (" 2", 2),
        ("2048Mi", "2Gi"),
        (2147483648, "2Gi"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1k", 1000),
        ("1000000n", "1m"),
        ("+1", 1),
    ],
)
def test_spellings_of_one_amount(one, other):
    assert is_same_amount(one, other)


@pytest.mark.parametrize(("one", "other"), [("2G", "2Gi"), (2, 3), ("1500m", 2), (True, 1)])
def test_amounts_that_differ(one, other):
    assert not is_same_amount(one, other)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("2gi", "Gi"),
        ("2GB", "G"),
        ("2Gib", "Gi"),
        ("2 Gi", "directly"),
        ("two", "number"),
        ("", "number"),
        (None, "number"),
        (True, "number"),
        ([2], "number"),
        ("9" * 100, "longer"),
        ("1e999", "number"),
        (float("inf"), "number"),
        (float("nan"), "number"),
        ("2x", "x"),
        ("\u0662", "number"),
        ("2e\u0662", "number"),
    ],
)
def test_what_is_no_quantity_is_refused_by_name(value, word):
    with pytest.raises(BadQuantity) as refused:
        parse_quantity(value)
    assert word in str(refused.value.why)


@given(st.integers(-(10**12), 10**12))
def test_a_shown_amount_reads_back(milli):
    amount = Fraction(milli, 1000)
    assert parse_quantity(show_amount(amount)) == amount


@pytest.mark.parametrize(
    ("value", "shown"), [("1e99", "1e+99"), ("-1e30", "-1e+30"), (10**19, "10000000000000000000")]
)
def test_huge_amounts_are_shown_short(value, shown):
    assert show_amount(parse_quantity(value)) == shown


@given(st.text() | st.floats() | st.integers() | st.none() | st.lists(st.text()))
def test_any_value_gives_an_amount_or_a_refusal(value):
    with contextlib.suppress(BadQuantity):
        assert isinstance(parse_quantity(value), Fraction)


def test_sums_leave_out_what_is_no_quantity():
    assert sum_amounts([{"cpu": "200m", "x": "?"}, {"cpu": 1}]) == {"cpu": Fraction(6, 5)}
