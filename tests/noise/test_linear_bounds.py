"""Bounds of weighted sums for many rows of weights: not below the exact ones, and not far above."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise.geometric import Geometric
from sfumato.noise.linear_bounds import Smooth, bound_sums
from sfumato.noise.rounded_normal import RoundedNormal

LAWS: list[Smooth] = [Geometric(scale=6), RoundedNormal(sigma=8)]
WEIGHTS = [(1, 0, 0), (1, 1, 0), (3, 1, 2), (0, 5, 5), (7, 1, 1)]


def exact_beyond(laws: list[Smooth], weights: tuple[int, ...], bound: float) -> float:
    """P(|Σ wZ| > bound) by convolution."""
    total, reach = np.ones(1), 150
    for law, weight in zip(laws, weights, strict=True):
        masses = np.array([law.pmf(z) for z in range(-reach, reach + 1)])
        spread = np.zeros(2 * reach * weight + 1)
        spread[:: max(1, weight)] = masses if weight else masses.sum()
        total = np.convolve(total, spread)
    places = np.arange(len(total)) - len(total) // 2
    return float(total[np.abs(places) > bound].sum())


@pytest.mark.parametrize("missing", [Fraction(1, 5), Fraction(1, 20), Fraction(1, 1000)], ids=str)
@pytest.mark.parametrize("kinds", [(0, 0, 0), (1, 1, 1), (0, 1, 0)], ids=str)
def test_bounds_hold_and_are_near(missing: Fraction, kinds: tuple[int, ...]) -> None:
    laws = [LAWS[kind] for kind in kinds]
    bounds = bound_sums(
        laws, [np.array(w, dtype=float) for w in zip(*WEIGHTS, strict=True)], missing
    )
    for weights, bound in zip(WEIGHTS, bounds, strict=True):
        assert exact_beyond(laws, weights, bound) <= missing
        # the twin: four fifths, without the steps that coupling adds, hold too seldom
        assert exact_beyond(laws, weights, 0.8 * (bound - sum(weights))) > missing


def test_a_bound_holds_for_all_smaller_weights() -> None:
    laws = [LAWS[0], LAWS[0], LAWS[1]]
    largest = bound_sums(laws, [np.array([3.0]), np.array([2.0]), np.array([4.0])], Fraction(1, 20))
    for weights in [(3, 2, 4), (0, 2, 4), (3, 0, 1), (1, 1, 1), (2, 2, 3)]:
        assert exact_beyond(laws, weights, float(largest[0])) <= 0.05


def test_rare_misses_no_weight_and_unknown_weights() -> None:
    laws = [LAWS[0], LAWS[1]]
    rare = bound_sums(laws, [np.array([1.0]), np.array([2.0])], Fraction(1, 10**6))
    assert exact_beyond(laws, (1, 2), float(rare[0])) <= 1e-6
    none, unknown, signed = bound_sums(
        laws, [np.array([0.0, np.inf, -1.0]), np.array([0.0, 1.0, 2.0])], Fraction(1, 20)
    )
    assert none == 0
    assert unknown == np.inf
    assert signed == bound_sums(laws, [np.array([1.0]), np.array([2.0])], Fraction(1, 20))[0]
