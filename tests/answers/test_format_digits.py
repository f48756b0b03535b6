"""Printed numbers: what is printed contains the interval, and digits go as far as the error."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.answers.render.format_digits import (
    Cell,
    decimal_places,
    format_cell,
    format_exact,
    format_share,
    format_significant,
    group_thousands,
)


@pytest.mark.parametrize(
    ("error", "places"),
    [
        (61, 0),
        (1.5, 1),
        (0.4, 1),
        (0.15, 2),
        (0.02, 2),
        (1000, 0),
        (9.99, 0),
        (2, 0),
        (1e-7, 8),
        (0, 0),
        (math.inf, 0),
        (math.nan, 0),
    ],
)
def test_digits_that_an_error_is_worth(error: float, places: int) -> None:
    assert decimal_places(error) == places


@pytest.mark.parametrize(
    ("value", "ends", "places", "printed"),
    [
        (12040, (11979, 12101), 0, "12 040 ± 61"),
        (18.31, (17.95, 18.65), 1, "18.3 ± 0.4"),
        (-3.2, (-8, 1.6), 0, "−3 ± 5"),
        (0.2, (0, 5), 0, "0 [0, 5]"),
        (-0.4, (-2.4, 1.6), 0, "0 ± 3"),
        (1e6, (999_000.5, 1_001_000.5), 0, "1 000 000 ± 1 001"),
        (5, (5, 5), 0, "5 ± 0"),
        (9, (1, 4), 0, "9 [1, 4]"),
        (12040.2, (11979.2, 12101.2), 0, "12 040 ± 62"),
        (12040.9, (11979.9, 12101.9), 0, "12 041 ± 62"),
    ],
)
def test_cells(value: float, ends: tuple[float, float], places: int, printed: str) -> None:
    assert str(format_cell(value, ends, places)) == printed


def read(text: str) -> F:
    return F(text.replace(" ", "").replace("−", "-"))


@given(
    value=st.floats(-1e9, 1e9),
    sides=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
    places=st.integers(0, 4),
)
def test_what_is_printed_contains_the_interval(
    value: float, sides: tuple[float, float], places: int
) -> None:
    low, high = value - sides[0], value + sides[1]
    printed = format_cell(value, (low, high), places)
    if printed.margin.startswith("±"):
        half = read(printed.margin[2:])
        ends = read(printed.value) - half, read(printed.value) + half
    else:
        a, b = printed.margin[1:-1].split(", ")
        ends = read(a), read(b)
    assert ends[0] <= F(low)
    assert ends[1] >= F(high)
    assert ends[1] - ends[0] <= max(
        F(high) - F(low), 2 * max(F(high) - F(value), F(value) - F(low))
    ) + 4 * F(1, 10**places)


def test_one_that_ends_at_a_limit_is_written_by_its_ends() -> None:
    assert format_cell(10, (0, 20), 0) == Cell("10", "± 10")
    assert format_cell(10, (0, 20), 0, (0, 64)).margin == "[0, 20]"
    assert format_cell(10, (0, 20), 0, (-1, 20)).margin == "[0, 20]"


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e300, 5e15])
def test_beyond_reading(value: float) -> None:
    assert "[" in str(format_cell(value, (-math.inf, math.inf), 0))


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "0"),
        (12.5, "12.5"),
        (100.0, "100"),
        (1234567.89, "1 234 570"),
        (-0.25, "−0.25"),
        (1e20, "1.00000e+20"),
        (3e-9, "3.00000e−09"),
        (math.nan, "nan"),
    ],
)
def test_significant(value: float, printed: str) -> None:
    assert format_significant(value) == printed


def test_small_words() -> None:
    assert group_thousands(Decimal("-1234567.50")) == "−1 234 567.50"
    assert group_thousands(Decimal("-0.0")) == "0.0"
    assert format_exact(F(1, 10**9)) == "1e-9"
    assert format_exact(F(-3, 2)) == "−1.5"
    assert format_share(0.25, 0.125, 0.375) == "25 % ± 13 %"
    assert format_share(0.0625, 0.0, 0.125) == "6 % (between 0 % and 13 %)"
    assert format_share(0.0011, 0.0001, 0.0021).startswith("0.11 % ± 0.1")
