"""Values on the grid of a public range, and labels of public categories."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.mechanisms.inverse_sensitivity import InverseSensitivity
from sfumato.mechanisms.shared.bounded_data import (
    Range,
    category_counts,
    check_categories,
    check_ends,
    check_range,
    check_statistic,
)
from sfumato.mechanisms.shared.grid import snap

from ..refusing import refusal


@given(
    low=st.fractions(-1000, 1000, max_denominator=64),
    width=st.fractions(Fraction(1, 4), 1000, max_denominator=64),
    exponent=st.integers(-12, 3),
    values=st.lists(st.one_of(st.integers(-(2**70), 2**70), st.integers(-2000, 2000)), max_size=6),
)
def test_integers_go_to_the_nearest_point(
    low: Fraction, width: Fraction, exponent: int, values: list[int]
) -> None:
    grid = Fraction(2) ** exponent
    if math.ceil(low / grid) > math.floor((low + width) / grid):
        return
    r = Range(low, low + width, grid)
    expected = sorted(
        max(r.first, min(r.last, math.floor(v / grid + Fraction(1, 2)))) for v in values
    )
    assert r.sorted_steps(np.array(values, dtype=object)).tolist() == expected
    if all(abs(v) < 2**63 for v in values):
        assert r.sorted_steps(np.array(values, dtype=np.int64)).tolist() == expected


@given(values=st.lists(st.floats(-1e6, 1e6), max_size=6))
def test_floats_go_to_the_nearest_point(values: list[float]) -> None:
    r = Range(-3, 5, 2.0**-10)
    assert r.sorted_steps(values).tolist() == sorted(
        max(r.first, min(r.last, snap(v, -10))) for v in values
    )


@pytest.mark.parametrize("low", [0, "0.1"])
def test_a_tiny_range_far_below_one(low: Any) -> None:
    """Shifting integers by the grid would leave 64 bits here."""
    r = Range(low, Fraction(str(low)) + Fraction(1, 2**50), 2.0**-60)
    assert r.sorted_steps(np.array([0, 1, 10**9])).tolist() == [r.first, r.last, r.last]


def test_the_default_grid_has_about_a_million_points() -> None:
    for low, high in ((0, 1), (-3, 4), (0, 10**9), (0, "0.001")):
        r = Range(low, high, None)
        assert 2**19 <= r.last - r.first + 1 <= 2**20 + 1


def test_values_as_a_user_would_write_them() -> None:
    assert Range(0, 10, 1).value(3) == 3
    assert isinstance(Range(0, 10, 2).value(3), int)
    assert Range(0, 1, "1/4").value(3) == 0.75


@pytest.mark.parametrize(
    ("low", "high", "grid", "code"),
    [
        (1, 1, None, "range.ends"),
        (2, 1, None, "range.ends"),
        (0, math.inf, None, "number.not-finite"),
        ("1/3", "0.4", 1, "range.grid"),
        (0, 2**61, 1, "range.grid"),
        (0, 1, 0.3, "number.not-a-power-of-two"),
        (0, 1, 0, "number.not-positive"),
    ],
)
def test_ranges_that_are_refused(low: Any, high: Any, grid: Any, code: str) -> None:
    refusal(lambda: Range(low, high, grid), code)


def test_ends_have_to_be_given() -> None:
    for low, high in ((None, 1), (0, None), (None, None)):
        refusal(lambda low=low, high=high: check_range("here", low, high, None), "range.ends")
    refusal(lambda: check_ends(1, 1), "range.ends")
    assert check_ends("0.1", 1) == (Fraction(1, 10), 1)


def test_a_record_shows_its_range() -> None:
    with_ends, without = (
        InverseSensitivity("median", epsilon=1, low=0, high=1, grid="1/4"),
        InverseSensitivity("count", epsilon=1),
    )
    assert (with_ends.low, with_ends.high, with_ends.grid) == (0, 1, Fraction(1, 4))
    assert (without.low, without.high, without.grid) == (None, None, None)


def test_categories() -> None:
    for wrong in ([], ["a", "a"]):
        refusal(lambda wrong=wrong: check_categories("here", wrong), "statistic.categories")
    assert check_categories("here", "ab") == ("a", "b")
    refusal(lambda: check_statistic("mean", ("median",)), "statistic.unknown")


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        (["a", "b", "a", "z"], [2, 1]),
        (np.array(["a", "b", "a", "z"]), [2, 1]),
        ([], [0, 0]),
        (["a", ["b"], None, 1, float("nan")], [1, 0]),
        (np.array([["a", "b"], ["b", "b"]]), [1, 3]),
    ],
    ids=str,
)
def test_labels_that_are_no_category_count_for_none(data: Any, counts: list[int]) -> None:
    assert category_counts(data, ("a", "b")).tolist() == counts


def test_labels_of_several_types_stay_what_they_are() -> None:
    assert category_counts([1, "1", (1, 2), 1], (1, "1", (1, 2))).tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("low", "high", "grid"),
    [("0.1", "0.2", 1), (0, 1, 2.0**-70), (2**70, 2**70 + 4, None), (0, 2**61, 1)],
)
def test_the_grid_that_is_suggested_fits_the_range(low: Any, high: Any, grid: Any) -> None:
    refused = refusal(lambda: Range(low, high, grid), "range.grid")
    exponent = int(refused.rewrite.removeprefix("grid=2**"))
    Range(low, high, Fraction(2) ** exponent)
