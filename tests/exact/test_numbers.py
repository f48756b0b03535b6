"""The door for numbers: what each kind of input means, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact import numbers
from sfumato.exact.numbers import (
    by_its_bits,
    ceil_sqrt,
    double_above,
    double_below,
    exact,
    is_whole,
    non_negative,
    positive,
    power_of_two,
    power_of_two_at_least,
    probability,
    rational_root,
    rounded,
    text,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(5, 10**324)),
        (1e308, Fraction(10**308)),
        ("0.1", Fraction(1, 10)),
        (" 1e-3 ", Fraction(1, 1000)),
        ("1/3", Fraction(1, 3)),
        (" -22 / 7 ", Fraction(-22, 7)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.int64(-7), Fraction(-7)),
        (np.uint8(200), Fraction(200)),
        (np.array(2.7), Fraction(27, 10)),
        (np.array(2), Fraction(2)),
        ("1" + "0" * 399, Fraction(10**399)),
        ("0e999999999999", Fraction(0)),
        (np.longdouble("0.1"), Fraction(1, 10)),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_meaning(value: Any, expected: Fraction) -> None:
    assert exact(value) == expected


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (True, "number.type"),
        (np.True_, "number.type"),
        (None, "number.type"),
        ([1], "number.type"),
        (1j, "number.type"),
        (b"1", "number.type"),
        (np.array([1, 2]), "number.text"),
        (np.array([0.5]), "number.text"),
        (np.array(True), "number.text"),
        ("", "number.text"),
        ("one", "number.text"),
        ("1/0", "number.text"),
        ("1/2/3", "number.text"),
        ("1_0", "number.text"),  # ten to Python, and a mistake to everybody else
        ("1_0/3", "number.text"),
        ("1e1_0", "number.text"),
        ("٣", "number.text"),  # digits of other scripts look like other signs
        ("３.５", "number.text"),
        ("1/٣", "number.text"),
        ("0x10", "number.text"),
        ("1" * 500 + "/3", "number.text"),
        (float("nan"), "number.not-finite"),
        (float("inf"), "number.not-finite"),
        ("-Infinity", "number.not-finite"),
        ("sNaN", "number.not-finite"),
        (Decimal("NaN"), "number.not-finite"),
        (np.float32("inf"), "number.not-finite"),
        ("1e401", "number.range"),
        ("1e-401", "number.range"),
        ("1e999999999", "number.range"),
        ("0." + "1" * 401, "number.range"),
    ],
    ids=lambda value: f"{value!r:.20}",
)
def test_refused(value: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        exact(value, "epsilon")
    assert caught.value.code == code
    assert "epsilon" in caught.value.place


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_text(value: float) -> None:
    assert float(exact(value)) == value
    assert exact(value) == exact(repr(value))


@given(st.fractions())
def test_fractions_pass_through_their_text(value: Fraction) -> None:
    assert exact(value) is value
    assert exact(str(value)) == value


@pytest.mark.parametrize(
    ("check", "value", "code"),
    [
        (positive, 0, "number.not-positive"),
        (positive, -0.5, "number.not-positive"),
        (positive, 1e-310, "number.subnormal"),
        (positive, "1e-320", "number.subnormal"),
        (positive, numbers.SMALLEST - Fraction(1, 10**400), "number.subnormal"),
        (positive, "1e309", "number.range"),
        (positive, numbers.LARGEST, "number.range"),
        (non_negative, -1, "number.not-positive"),
        (non_negative, 1e-310, "number.subnormal"),
        (power_of_two, 3, "number.not-a-power-of-two"),
        (power_of_two, 0.1, "number.not-a-power-of-two"),
        (power_of_two, "1/3", "number.not-a-power-of-two"),
        (power_of_two, 0, "number.not-positive"),
        (probability, -0.1, "number.not-a-probability"),
        (probability, 1, "number.not-a-probability"),
        (probability, 1.5, "number.not-a-probability"),
    ],
)
def test_ranges(check: Any, value: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        check(value, "x")
    assert caught.value.code == code
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("check", [positive, non_negative, power_of_two, probability])
def test_integers_too_long_to_be_written_are_refused_all_the_same(check: Any) -> None:
    huge = 10**5000
    assert exact(huge) == huge
    for value in (huge, -huge, Fraction(1, huge)):
        if check is not probability or value != Fraction(1, huge):
            with pytest.raises(Refused):
                check(value, "x")


def test_ranges_include_their_ends() -> None:
    assert positive(numbers.SMALLEST, "x") == numbers.SMALLEST
    assert positive(numbers.LARGEST - 1, "x") == numbers.LARGEST - 1
    assert non_negative(0, "x") == non_negative(0.0, "x") == 0
    assert non_negative("1/3", "x") == Fraction(1, 3)
    assert probability(0, "x") == 0
    assert probability(1, "x", one=True) == 1
    for closed in ({"zero": False}, {"zero": False, "one": True}):
        with pytest.raises(Refused):
            probability(0, "x", **closed)


@pytest.mark.parametrize("exponent", [-1022, -52, -1, 0, 1, 10, 1023])
def test_power_of_two(exponent: int) -> None:
    assert power_of_two(Fraction(2) ** exponent, "grid") == exponent
    assert power_of_two(2.0**exponent, "grid") == exponent, (
        "by its bits: the shortest text of 2**-52 is no power of two"
    )
    assert power_of_two(np.float64(2.0**exponent), "grid") == exponent


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(0.1)),
        (np.float64(2.0**-30), Fraction(1, 2**30)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        ("0.1", Fraction(1, 10)),
        (3, 3),
    ],
    ids=str,
)
def test_by_its_bits(value: Any, expected: Fraction) -> None:
    assert by_its_bits(value, "x") == expected


@given(st.fractions(min_value=0, max_value=10**30))
def test_ceil_sqrt(value: Fraction) -> None:
    root = ceil_sqrt(value)
    assert root * root >= value
    assert root == 0 or (root - 1) ** 2 < value


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_power_of_two_at_least(value: Fraction) -> None:
    power = power_of_two_at_least(value)
    assert value <= power < 2 * value
    assert power_of_two(power, "x") is not None


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(3), "3"),
        (Fraction(1, 2), "0.5"),
        (Fraction(1, 10**6), "1e-06"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-22, 7), "-22/7"),
        (Fraction(10**400), "…"),
        (Fraction(10**20), "1e+20"),
        (Fraction(10**20 + 1, 3 * 10**20), "0.3333333333333333…"),
    ],
)
def test_text(value: Fraction, written: str) -> None:
    assert text(value) == written


@given(st.fractions(-(10**6), 10**6))
def test_doubles_on_either_side(value: Fraction) -> None:
    below, above = double_below(value), double_above(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert above == (below if Fraction(below) == value else np.nextafter(below, np.inf))


@given(st.fractions(0, 10**6))
def test_rational_roots(value: Fraction) -> None:
    assert rational_root(value * value) == value
    assert rational_root(2 * value * value) == (None if value else 0)


@given(
    st.fractions()
    | st.builds(
        lambda value, power: value * Fraction(10) ** power,
        st.fractions(-10, 10),
        st.integers(-400, 400),
    ),
    st.integers(1, 12),
)
def test_few_digits_to_one_side(value: Fraction, digits: int) -> None:
    """Against arithmetic: both have so many digits, one is not above and one not below, and between
    them there is none with as many.
    """
    low, high = rounded(value, "down", digits), rounded(value, "up", digits)
    assert Fraction(low) <= value <= Fraction(high)
    assert max(len(low.as_tuple().digits), len(high.as_tuple().digits)) <= digits
    if Fraction(low) == value or Fraction(high) == value:
        assert low == high
    else:
        size = min(low.adjusted(), high.adjusted())  # 10^size ≤ |value| < 10^(size + 1)
        assert Fraction(high) - Fraction(low) == Fraction(10) ** (size - digits + 1)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("73106/1000", "73.1", "73.2"),
        ("-1/3", "-0.334", "-0.333"),
        ("9999/10", "999", "1.00E+3"),
        ("1/8", "0.125", "0.125"),
    ],
)
def test_three_digits(value: str, low: str, high: str) -> None:
    assert (str(rounded(Fraction(value), "down", 3)), str(rounded(Fraction(value), "up", 3))) == (
        low,
        high,
    )


@pytest.mark.parametrize(
    ("value", "least", "most", "expected"),
    [
        (1, 1, None, True),
        (0, 1, None, False),
        (0, 0, None, True),
        (10**30, 1, None, True),
        (5, 1, 5, True),
        (6, 1, 5, False),
        (True, 0, None, False),
        (1.0, 1, None, False),
        ("1", 1, None, False),
        (np.int64(1), 1, None, False),
        (None, 0, None, False),
    ],
    ids=str,
)
def test_whole_numbers(value: object, least: int, most: int | None, expected: bool) -> None:
    assert is_whole(value, least, most) is expected


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300))
def test_printed_intervals_hold_the_exact_ones(low: float, width: float) -> None:
    printed = numbers.interval_text(low, low + width).strip("[]").split(", ")
    assert float(printed[0]) <= low <= low + width <= float(printed[1])
    assert float(numbers.width_text(width).removeprefix("± ")) >= width


def test_endless_intervals_are_printed() -> None:
    assert numbers.interval_text(-math.inf, 1.0) == "[-inf, 1]"
    assert numbers.width_text(math.inf) == "± inf"
