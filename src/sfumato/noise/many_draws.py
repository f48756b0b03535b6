"""Bound weighted sums of very many independent noises: of two-sided geometric and rounded normal
draws, with few different weights and any multiplicities.

*Coupling*  A rounded normal draw is at most 1/2 away from a normal one, a two-sided geometric draw
            less than 1 from a Laplace one. The differences are independent and have mean 0, so
            they sum to more than √(2·ln(2/β)·Σc²) with probability at most β (Hoeffding 1963), c
            the weight times the most that one difference can be; and never to more than Σc.
*Normal*    The rest is normal, and its quantile is exact.
*Laplace*   Where Laplace draws are among them, the rest has a known characteristic function, and
            the bound of `sum_tails` holds: about one per cent above the quantile.
*Proof*     docs/proofs/marginals.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from .geometric import Geometric
from .rounded_normal import RoundedNormal
from .sum_tails import MARGIN, integral_nodes, tail_bounds

_COUPLING = 1024  # the part of the risk that the differences get
_PANELS, _BAND = 64, 128.0
_GROWTH, _HALVINGS = 1.15, 24
_LOOSE = 1 + 2.0**-30

Draws = tuple[Geometric | RoundedNormal, Fraction, int]
"""A law, the weight of its draws, and their number."""


@dataclass(frozen=True, slots=True)
class RoundingError:
    """The law of a rounding: not above `most` in size, whatever else is unknown of it."""

    most: Fraction

    @property
    def variance(self) -> float:
        """The most that the variance can be."""
        return float(self.most) ** 2

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int:
        """Return the most that roundings can be, at any level."""
        return math.ceil(self.most)


def bound_many(draws: Sequence[Draws], missing: Fraction) -> Fraction | None:
    """Return a bound that |Σ weight·Z| exceeds with probability at most `missing`, for these
    weights and for all smaller ones; None if the probability is too small for the method.
    """
    size = np.array([float(weight) for _, weight, _ in draws])
    often = np.array([float(count) for *_, count in draws])
    apart = np.array([1.0 if isinstance(law, Geometric) else 0.5 for law, *_ in draws])
    is_laplace = np.array([isinstance(law, Geometric) for law, *_ in draws])
    scale = np.array(
        [
            math.sqrt(2) * float(law.scale) if isinstance(law, Geometric) else float(law.sigma)
            for law, *_ in draws
        ]
    )
    risk = float(missing)
    if risk <= 0:
        return None
    most = float((often * size * apart).sum())
    likely = math.sqrt(
        2 * math.log(2 * _COUPLING / risk) * float((often * (size * apart) ** 2).sum())
    )
    rest = risk if most <= likely else risk * (1 - 1 / _COUPLING)
    spread = math.sqrt(float((often * (size * scale) ** 2).sum()))
    factor = -NormalDist().inv_cdf(rest / 2)
    if is_laplace.any():
        goal = rest / 2
        if goal <= 4 * MARGIN:
            return None
        angles = _BAND * integral_nodes(_PANELS)[0]
        logarithms = np.zeros(len(angles))
        for share, count, laplace in zip(size * scale / spread, often, is_laplace, strict=True):
            squares = (share * angles) ** 2 / 2
            logarithms -= count * (np.log1p(squares) if laplace else squares)
        factor = _quantile(np.exp(logarithms)[None, :], goal, factor)
    return Fraction((factor * spread + min(most, likely)) * _LOOSE)


def _quantile(
    characteristic: np.ndarray[tuple[int, int], np.dtype[np.float64]], goal: float, near: float
) -> float:
    """Return the least end found that a sum of variance 1 exceeds with at most this chance."""

    def holds(end: float) -> bool:
        return float(tail_bounds(characteristic, _BAND, np.array([end]))[0]) <= goal

    low, high = 0.0, near
    while not holds(high):
        low, high = high, high * _GROWTH
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
