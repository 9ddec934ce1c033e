"""Kubernetes quantities compared by amount, not by spelling.

The grammar is that of `k8s.io/apimachinery/pkg/api/resource` (quantity.go).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from provision.message import Message, say

_BINARY = {unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{unit: Fraction(1000**power) for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
}
_UNITS = {**_DECIMAL, **{unit: Fraction(factor) for unit, factor in _BINARY.items()}}
_SHAPE = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d{1,2})|([A-Za-z]*))", re.A)
_LONGEST = 64
_MOST_SHOWN = 10**20


class BadQuantity(ValueError):
    """The value is no Kubernetes quantity; `why` says what is off, for the learner."""

    def __init__(self, why: Message) -> None:
        super().__init__(str(why))
        self.why = why


def parse_quantity(value: object) -> Fraction:
    """The amount a manifest's or the API's value stands for; BadQuantity when it is none.

    Takes the int, float or text that YAML or JSON gives. Space around it is no content.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadQuantity(say("it is not a number or a text such as 2, 500m or 2Gi"))
    text = str(value).strip()
    if len(text) > _LONGEST:
        raise BadQuantity(say("it is longer than any quantity"))
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise BadQuantity(say("it is not a number with a unit directly behind it, such as 2Gi"))
    number, exponent, unit = shape.groups()
    if exponent is not None:
        return Fraction(number) * Fraction(10) ** int(exponent)
    if unit not in _UNITS:
        raise BadQuantity(_wrong_unit(unit))
    return Fraction(number) * _UNITS[unit]


def is_same_amount(one: object, other: object) -> bool:
    """Both are quantities and stand for the same amount (2000m and 2, 2048Mi and 2Gi)."""
    try:
        return parse_quantity(one) == parse_quantity(other)
    except BadQuantity:
        return False


def sum_amounts(maps: Iterable[Mapping[str, object]]) -> Mapping[str, Fraction]:
    """The amounts of each name over all maps; what is no quantity counts as nothing."""
    total: dict[str, Fraction] = {}
    for amounts in maps:
        for name, value in amounts.items():
            with contextlib.suppress(BadQuantity):
                total[name] = total.get(name, Fraction(0)) + parse_quantity(value)
    return total


def show_amount(amount: Fraction) -> str:
    """An amount in its shortest plain spelling: 2, 500m, 0.5 becomes 500m; 1e+99 stays short."""
    if abs(amount) >= _MOST_SHOWN:
        return f"{float(amount):g}"
    if amount.denominator == 1:
        return str(amount.numerator)
    milli = amount * 1000
    return f"{milli.numerator}m" if milli.denominator == 1 else f"{float(amount):g}"


def _wrong_unit(unit: str) -> Message:
    known = {name.lower(): name for name in _UNITS if name}
    near = known.get(unit.lower()) or known.get(unit.lower().rstrip("b"))
    if near:
        return say(
            "the unit {unit} does not exist; Kubernetes spells it {near}", unit=unit, near=near
        )
    return say("the unit {unit} does not exist", unit=unit)
