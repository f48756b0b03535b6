"""Bound weighted sums of independent noises, for many rows of weights at once.

*Coupling*  A two-sided geometric draw is less than 1 away from a Laplace draw of its scale, as
            ⌊E⌋ − ⌊E'⌋ from E − E', and a rounded normal one at most 1/2 away from a normal one.
*Monotone*  Laplace and normal laws are symmetric and unimodal. So P(|Σ wᵢYᵢ| > x) grows with every
            |wᵢ|: a bound for the largest weights holds for all smaller ones (Anderson 1955).
*Tail*      The bound of `sum_tails`, at sums with variance 1.
*Proof*     docs/proofs/answer-intervals.md, "Formulas"
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .geometric import Geometric
from .rounded_normal import RoundedNormal
from .sum_tails import integral_nodes, tail_bounds

Doubles = NDArray[np.float64]
Smooth = Geometric | RoundedNormal

_PANELS, _BAND = 64, 128.0
_RARE = Fraction(1, 1 << 12)  # below it the bound of the tail is too far above it
_GROWTH, _HALVINGS = 1.15, 6
_LOOSE = 1 + 2.0**-30
_BLOCK = 256  # rows of weights in a pass


def bound_sums(laws: Sequence[Smooth], weights: Sequence[Doubles], missing: Fraction) -> Doubles:
    """Return for each row a bound that |Σ wᵢZᵢ| exceeds with probability at most `missing`, for all
    weights that are not above the given ones in size. Each law has an array of weights.
    """
    sizes = np.abs(np.stack(weights, axis=1))
    if missing < _RARE:
        halves = [law.half_width(1 - missing / len(laws)) for law in laws]
        union: Doubles = sizes @ np.array(halves, dtype=np.float64) * _LOOSE
        return union
    scales = np.array([_scale(law) for law in laws])
    spread = np.sqrt((sizes**2 * scales**2).sum(axis=1))
    bounds = np.zeros(len(sizes))
    for first in range(0, len(sizes), _BLOCK):
        part = slice(first, first + _BLOCK)
        with np.errstate(all="ignore"):
            shares = sizes[part] * scales / spread[part, None]
        valid = np.isfinite(shares).all(axis=1)
        factors = np.where(spread[part] == 0, 0.0, np.inf)
        if valid.any():
            factors[valid] = _factors(laws, shares[valid], float(missing / 2))
        with np.errstate(all="ignore"):
            bounds[part] = np.where(factors == 0, 0.0, factors * spread[part])
    steps = np.array([1.0 if isinstance(law, Geometric) else 0.5 for law in laws])
    total: Doubles = (bounds + sizes @ steps) * _LOOSE
    return total


def _scale(law: Smooth) -> float:
    """Return the standard deviation of the continuous law."""
    return math.sqrt(2) * float(law.scale) if isinstance(law, Geometric) else float(law.sigma)


def _factors(laws: Sequence[Smooth], shares: Doubles, goal: float) -> Doubles:
    """Return for each row the least number found that a sum of variance 1 exceeds with at most this
    probability. Draw i has the standard deviation shares[:, i].
    """
    angles = _BAND * integral_nodes(_PANELS)[0]
    logarithms = np.zeros((len(shares), len(angles)))
    for law, share in zip(laws, shares.T, strict=True):
        squares = np.multiply.outer(share, angles) ** 2 / 2
        logarithms -= np.log1p(squares) if isinstance(law, Geometric) else squares
    characteristic = np.exp(logarithms)
    high = np.full(len(shares), NormalDist().inv_cdf(1 - goal))
    low = high * 0.8
    rows = np.arange(len(shares))
    while len(rows):
        rows = rows[tail_bounds(characteristic[rows], _BAND, high[rows]) > goal]
        low[rows], high[rows] = high[rows], high[rows] * _GROWTH
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        holds = tail_bounds(characteristic, _BAND, middle) <= goal
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return high
