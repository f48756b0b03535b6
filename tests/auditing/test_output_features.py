"""Every score finds what it is there for, and finds nothing where there is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.auditing.canonical_outputs import Outputs, read_outputs
from sfumato.auditing.output_features import fit_scores, grain


def best_gap(a: Any, b: Any) -> dict[str, float]:
    """Of each score, fitted on one half, the largest difference P(score ≥ t | x) − P(score ≥ t | y)
    on the other.
    """
    first, second = read_outputs(a), read_outputs(b)
    half = len(first) // 2
    result: dict[str, float] = {}
    for score in fit_scores(first.part(0, half), second.part(0, half)):
        s, t = score(first.part(half, len(first))), score(second.part(half, len(second)))
        levels = np.unique(np.concatenate([s, t]))
        gap = max(
            float((s >= level).mean() - (t >= level).mean())
            for level in levels[:: max(1, len(levels) // 200)]
        )
        result[score.of] = max(gap, result.get(score.of, 0.0))
        assert isinstance(score.words(float(levels[-1])), str)
    return result


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_a_shift_is_seen_by_value_cells_and_symbols() -> None:
    g = generator()
    result = best_gap(g.integers(0, 10, 2000) + 3, g.integers(0, 10, 2000))
    for name in ("output", "cells of output"):
        assert result[name] > 0.2


def test_the_grain_of_doubles_is_seen_where_values_are_alike() -> None:
    g = generator()
    fine = g.normal(size=2000)
    result = best_gap(np.round(g.normal(size=2000) * 2**20) / 2**20, fine)
    assert result["grain of output"] > 0.99
    assert result["cells of output"] < 0.15


def test_a_difference_that_only_a_sum_shows() -> None:
    g = generator()
    a, b = g.normal(size=(4000, 20)) + 0.25, g.normal(size=(4000, 20))
    result = best_gap(a, b)
    assert result["all numbers"] > 0.3
    assert max(gap for name, gap in result.items() if name != "all numbers") < 0.25


def test_which_is_largest() -> None:
    g = generator()
    a = g.normal(size=(2000, 5)) * 1000
    b = a[::-1].copy()
    order = np.argsort(b, axis=1)
    rows = np.arange(len(b))
    b[rows, 0], b[rows, order[:, -1]] = b[rows, order[:, -1]], b[rows, 0].copy()
    assert best_gap(a, b)["place of the largest number"] > 0.6


def test_texts_and_structures() -> None:
    assert best_gap(["yes"] * 70 + ["no"] * 30, ["yes"] * 30 + ["no"] * 70)["output"] >= 0.0
    g = generator()
    a = [{"k": 1} if g.random() < 0.8 else [1] for _ in range(400)]
    b = [{"k": 1} if g.random() < 0.2 else [1] for _ in range(400)]
    assert best_gap(a, b)["structure"] > 0.4


def test_equal_laws_show_nothing() -> None:
    """The largest of some hundred gaps of 2 × 2000 draws, each of deviation at most 0.016: 0.12 is
    seven and a half of them, a chance of 10⁻¹¹ in all.
    """
    g = generator()
    assert max(best_gap(g.normal(size=(4000, 4)), g.normal(size=(4000, 4))).values()) < 0.12


@pytest.mark.parametrize(
    ("value", "exponent"),
    [(1.0, 0), (0.5, -1), (6.0, 1), (-6.0, 1), (0.75, -2), (2.0**-1040, -1040), (2.0**60, 60)],
)
def test_grain(value: float, exponent: int) -> None:
    assert grain(np.array([value])).tolist() == [exponent]


def test_what_is_no_number_has_a_grain_of_its_own() -> None:
    assert len(set(grain(np.array([0.0, np.nan, 1.0])).tolist())) == 3


def test_an_unseen_symbol_says_nothing() -> None:
    first, second = read_outputs(["a", "b"] * 20), read_outputs(["a", "a", "b", "b"] * 10)
    score = next(score for score in fit_scores(first, second) if score.of == "output")
    assert score(read_outputs(["never seen"])).tolist() == [0.0]
    assert isinstance(first, Outputs)


def test_numbers_near_the_end_of_doubles() -> None:
    g = generator()
    ends = np.array([1.7e308, -1.7e308])
    assert (
        best_gap(g.choice(ends, (400, 2)), g.choice(ends, (400, 2)))["all numbers"] < 0.5
    )  # warnings are errors here
