"""Finite laws: what is read as one, and the likelihood ratio."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.guarantees.finite.finite_laws import exceeds, exp_down, law, pair, steps, weights

from ..refusing import refusing


@st.composite
def two_laws(draw: st.DrawFn) -> tuple[tuple[F, ...], tuple[F, ...]]:
    n = draw(st.integers(1, 6))
    some = st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any)
    a, b = draw(some), draw(some)
    return tuple(F(x, sum(a)) for x in a), tuple(F(x, sum(b)) for x in b)


def test_numbers_are_taken_as_written() -> None:
    assert weights([0.1, "0.2", Decimal("0.3"), F(2, 5)]) == (F(1, 10), F(1, 5), F(3, 10), F(2, 5))
    assert weights(np.array([0.75, 0.25])) == (F(3, 4), F(1, 4))
    assert weights([1]) == (1,)


def test_rounded_sums_are_mended_exactly_and_exact_ones_are_not_touched() -> None:
    third = 1 / 3
    assert third + third + third == 1.0
    assert weights([third] * 3) == (F(1, 3),) * 3
    assert sum(weights([0.1 + 0.2, 0.7])) == 1
    assert sum(weights([0.5, 0.5 + 0.9e-9])) == 1
    with refusing("law.sum"):
        weights([0.5, 0.5 + 1.1e-9])
    with refusing("law.sum"):
        weights(["0.5", "0.5000000001"])  # claims to be exact
    with refusing("law.sum"):
        weights([0, 0])


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([], "law.empty"),
        ([1.5, -0.5], "law.negative"),
        ([10**400], "law.sum"),
        ([True, False], "number.type"),
        ([math.nan, 1], "number.not-finite"),
        (["x"], "number.text"),
    ],
)
def test_what_is_not_a_law(values: list[object], code: str) -> None:
    with refusing(code):
        weights(values)  # type: ignore[arg-type]  # wrong on purpose


def test_two_laws_speak_of_the_same_outcomes() -> None:
    assert pair({"a": 1, "b": 0}, {"b": F(1, 3), "a": F(2, 3)}) == ((1, 0), (F(2, 3), F(1, 3)))
    assert pair([1, 0], [0, 1]) == ((1, 0), (0, 1))
    for P, Q in (
        ([1], [0.5, 0.5]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 0}),
        ({"a": 1}, [1]),
        ([1], {"a": 1}),
    ):
        with refusing("law.outcomes"):
            pair(P, Q)
    assert law({"x": 0.25, "y": 0.75}) == (F(1, 4), F(3, 4))


@given(two_laws())
def test_steps_hold_all_the_mass_in_order(laws: tuple[tuple[F, ...], tuple[F, ...]]) -> None:
    ordered = steps(*laws)
    assert sum(s.p for s in ordered) == sum(s.q for s in ordered) == 1
    ratios = [math.inf if s.infinite else s.ratio for s in ordered]
    assert all(a > b for a, b in itertools.pairwise(ratios))
    assert all(s.p or s.q for s in ordered)


@given(
    st.fractions(min_value=0, max_value=50, max_denominator=50),
    st.fractions(min_value=-3, max_value=3, max_denominator=50),
)
def test_exceeds(ratio: F, exponent: F) -> None:
    gap = float(ratio) - math.exp(exponent)
    if abs(gap) > 1e-9:
        assert exceeds(ratio, exponent) == (gap > 0)


def test_exceeds_decides_at_the_edges() -> None:
    assert not exceeds(F(1), F(0))
    assert exceeds(F(1), F(-1, 10**300))
    assert not exceeds(F(1), F(1, 10**300))
    assert not exceeds(F(0), F(-(10**9)))
    assert not exceeds(F(10) ** 100, F(10) ** 300)
    assert exceeds(F(10) ** -100, F(-10) ** 301)
    near = exp_down(F(1), 100)
    assert not exceeds(near, F(1))
    assert exceeds(near + F(1, 2**90), F(1))
    assert 0 < F(2718281828459045235360287471352662498, 10**36) - near < F(1, 2**95)
