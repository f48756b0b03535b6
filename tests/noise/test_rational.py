"""The specification's own arithmetic: its enclosures hold known digits, are narrow, and agree with
ball arithmetic, which shares no line with them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from sfumato.exact.balls import ball, normal_cdf, precision

from . import rational
from .rational import Interval

DIGITS = {
    "e": (
        lambda bits: rational.exp(Fraction(1), bits),
        "2.71828182845904523536028747135266249775724709369995",
    ),
    "1/e": (
        lambda bits: rational.exp(Fraction(-1), bits),
        "0.36787944117144232159552377016146086744581113103176",
    ),
    "ln 2": (
        lambda bits: rational.log(Fraction(2), bits),
        "0.69314718055994530941723212145817656807550013436025",
    ),
    "ln 10": (
        lambda bits: rational.log(Fraction(10), bits),
        "2.30258509299404568401799145468436420760110148862877",
    ),
    "√2": (
        lambda bits: rational.sqrt(Fraction(2), bits),
        "1.41421356237309504880168872420969807856967187537694",
    ),
    "π": (rational.pi, "3.14159265358979323846264338327950288419716939937510"),
    "Φ(−1)": (
        lambda bits: rational.normal_tail(Fraction(1), bits),
        "0.15865525393145705141476745436796207752208703327339",
    ),
    "Φ(0)": (lambda bits: rational.normal_tail(Fraction(0), bits), "0.5"),
}


@pytest.mark.parametrize("name", DIGITS)
@pytest.mark.parametrize("bits", [10, 64, 200, 1000])
def test_known_digits(name: str, bits: int) -> None:
    enclose, digits = DIGITS[name]
    low, high = enclose(bits)
    slack = Fraction(1, 10**49)  # the digits are cut
    assert low <= Fraction(digits) + slack
    assert Fraction(digits) - slack <= high
    assert high - low <= Fraction(1, 2 ** (bits - 8))


def assert_agree(value: Interval, formula: Callable[[], arb], bits: int, *, relative: bool) -> None:
    low, high = value
    assert low <= high
    with precision(5 * bits + 4000):
        truth = formula()
        assert not truth < ball(low)
        assert not truth > ball(high)
        assert ball(high - low) <= (abs(truth) if relative else 1) * arb(2) ** (8 - bits)


reals = st.fractions(min_value=-60, max_value=60)
precisions = st.integers(20, 400)


@given(reals, precisions)
def test_exp(x: Fraction, bits: int) -> None:
    assert_agree(rational.exp(x, bits), lambda: ball(x).exp(), bits, relative=True)


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30), precisions)
def test_log(x: Fraction, bits: int) -> None:
    assert_agree(rational.log(x, bits), lambda: ball(x).log(), bits, relative=False)


@given(st.fractions(min_value=0, max_value=30), precisions)
def test_normal_tail(x: Fraction, bits: int) -> None:
    assert_agree(rational.normal_tail(x, bits), lambda: normal_cdf(-ball(x)), bits, relative=True)


def test_ends_that_are_exact() -> None:
    assert rational.exp(Fraction(0), 64) == (1, 1)
    assert rational.log(Fraction(1), 64) == (0, 0)
