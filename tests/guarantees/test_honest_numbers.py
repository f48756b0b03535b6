"""Numbers in words never read better than they are."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.exact.numbers import Side
from sfumato.guarantees.meaning.honest_numbers import figure, percent

SIDES = st.sampled_from(["up", "down"])


def read(shown: str) -> Fraction:
    number, _, power = shown.replace(" ", "").partition("·10^")
    return Fraction(number) * Fraction(10) ** int(power or 0)


def read_chance(shown: str) -> Fraction:
    return (
        1 / read(shown.removeprefix("1 in "))
        if shown.startswith("1 in ")
        else read(shown.removesuffix(" %")) / 100
    )


@given(st.floats(0, 1e300, allow_subnormal=False), SIDES)
def test_figures_are_rounded_outward(value: float, side: Side) -> None:
    shown = read(figure(value, side))
    assert shown >= value if side == "up" else shown <= value
    assert abs(shown - Fraction(value)) <= Fraction(value) / 99


@given(st.floats(0, 1, allow_subnormal=False), SIDES)
def test_chances_are_rounded_outward(value: float, side: Side) -> None:
    shown = read_chance(percent(value, side))
    assert shown >= value if side == "up" else shown <= value
    assert abs(shown - Fraction(value)) <= Fraction(value) / 99
    if 0.99 < value < 1:
        assert abs(shown - Fraction(value)) <= (1 - Fraction(value)) / 9, (
            "what is missing from certainty stays visible"
        )


@pytest.mark.parametrize(
    ("value", "side", "shown"),
    [
        (math.e, "up", "2.72"),
        (math.e, "down", "2.71"),
        (1640.0, "up", "1640"),
        (Fraction(16400), "up", "16 400"),
        (math.exp(50), "up", "5.19·10^21"),
        (Fraction("1.239e-5"), "down", "1.23·10^-5"),
        (1.0, "up", "1"),
        (0.0, "up", "0"),
        (math.inf, "up", "infinity"),
    ],
)
def test_figures(value: float, side: Side, shown: str) -> None:
    assert figure(value, side) == shown


@pytest.mark.parametrize(
    ("value", "side", "shown"),
    [
        (0.7310585786300049, "up", "73.2 %"),
        (0.2689414213699951, "down", "26.8 %"),
        (0.9995915675173918, "up", "99.96 %"),
        (Fraction(1, 10**6), "up", "1 in 1 000 000"),
        (Fraction(1, 3 * 10**6), "up", "1 in 3 000 000"),
        (Fraction(1, 100), "up", "1 %"),
        (0.0, "up", "0 %"),
        (1.0, "up", "100 %"),
    ],
)
def test_percent(value: float, side: Side, shown: str) -> None:
    assert percent(value, side) == shown
