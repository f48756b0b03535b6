"""Exact ratios as doubles: nearest is nearest, outward is outward, and no further than the next
double.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.exact.exact_ratios import (
    Ratios,
    as_python_ints,
    multiply_by_step,
    shift_integers,
    square_roots,
    to_double,
    to_doubles,
)

integers = st.one_of(
    st.integers(-(2**70), 2**70), st.integers(-100, 100), st.integers(-(2**400), 2**400)
)
positive = st.one_of(st.integers(1, 2**70), st.integers(1, 100), st.integers(1, 2**300))


def ratio(top: int, bottom: int) -> Ratios:
    return Ratios(np.array([top], dtype=object), np.array([bottom], dtype=object))


@given(top=integers, bottom=positive)
def test_outward_and_next_to_it(top: int, bottom: int) -> None:
    exact = Fraction(top, bottom)
    down, near, up = (
        float(to_doubles(ratio(top, bottom), way)[0]) for way in ("down", "nearest", "up")
    )
    assert near == exact.numerator / exact.denominator
    assert Fraction(down) <= exact <= Fraction(up)
    assert up == down or up == math.nextafter(down, math.inf)
    assert (up == down) == (Fraction(down) == exact)
    assert near in (down, up)


@given(
    values=st.lists(st.integers(-(2**62), 2**62), max_size=5),
    shift=st.integers(0, 70),
    top=st.sampled_from([1, 3, 10]),
)
def test_the_quick_way_is_the_exact_way(values: list[int], shift: int, top: int) -> None:
    step = Fraction(top, 2**shift)
    quick = np.array(values, dtype=np.int64)
    for way in ("down", "nearest", "up"):
        assert (
            to_doubles(multiply_by_step(quick, step), way).tolist()
            == to_doubles(multiply_by_step(as_python_ints(quick), step), way).tolist()
        )


def test_zero_has_no_sign() -> None:
    assert math.copysign(1, to_double(Fraction(0), "down")) == 1


def test_what_no_double_holds() -> None:
    assert to_doubles(ratio(10**400, 1), "up").tolist() == [math.inf]
    assert to_doubles(ratio(10**400, 1), "down").tolist() == [sys.float_info.max]
    assert to_doubles(ratio(-(10**400), 1), "up").tolist() == [-sys.float_info.max]
    assert to_doubles(ratio(-(10**400), 3)).tolist() == [-math.inf]


@given(top=st.integers(-5, 2**200), bottom=positive)
def test_roots_enclose(top: int, bottom: int) -> None:
    exact = max(Fraction(top, bottom), Fraction(0))
    low, high = (square_roots(ratio(top, bottom), up=up) for up in (False, True))
    a, b = Fraction(low.top[0], low.bottom[0]), Fraction(high.top[0], high.bottom[0])
    assert a * a <= exact <= b * b
    assert b - a <= Fraction(max(b, 1), 2**75)


def test_a_root_that_is_rational_is_found() -> None:
    for up in (False, True):
        result = square_roots(ratio(9, 16), up=up)
        assert Fraction(result.top[0], result.bottom[0]) == Fraction(3, 4)


@given(top=integers, bottom=positive, number=st.fractions())
def test_plus(top: int, bottom: int, number: Fraction) -> None:
    result = ratio(top, bottom).plus(number)
    assert Fraction(result.top[0], result.bottom[0]) == Fraction(top, bottom) + number
    result = multiply_by_step(np.array([5]), Fraction(1, 4)).plus(number)
    assert Fraction(int(result.top[0]), result.bottom) == Fraction(5, 4) + number


@pytest.mark.parametrize("value", [0, 2**62, -(2**62), 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("by", [0, 7, -7, 2**62, 2**80])
def test_moving_never_overflows(value: int, by: int) -> None:
    assert int(shift_integers(np.array([value], dtype=np.int64), by)[0]) == value + by


def test_nothing_is_nothing() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert shift_integers(empty, 3).size == 0
    assert to_doubles(multiply_by_step(empty, Fraction(1, 3)), "up").dtype == np.float64
