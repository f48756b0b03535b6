"""The largest weight of one record of a Gaussian kernel on a lattice: Σ K((p − c)/h)^power over the
points p of an axis, for the worst centre c.

*Bound*    the range of centres is cut into cells; in each cell every term uses its nearest centre,
           which no centre of the cell exceeds. The cells are so narrow that the bound exceeds the
           truth by about a thousandth at most. Rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..polynomial import Floats

_UP = 1 + Fraction(1, 10**9)  # far beyond the rounding of a few thousand doubles
_MOST = 1 << 22


def heaviest(
    axis: Floats, width: Fraction, low: Fraction, high: Fraction, power: int = 1
) -> Fraction:
    """Bound the weight of a record anywhere in [low, high]."""
    return Fraction(float(_profile(axis, float(width), float(low), float(high), power).max())) * _UP


def heaviest_beyond(
    axis: Floats, width: Fraction, low: Fraction, high: Fraction, power: int = 1
) -> Fraction:
    """Integrate, over t from low to high, the largest weight of a record in [t, high] (its root for
    power 2).
    """
    profile = _profile(axis, float(width), float(low), float(high), power)
    beyond = np.maximum.accumulate(profile[::-1])[::-1]
    mean = float((np.sqrt(beyond) if power == 2 else beyond).mean())
    return Fraction(mean) * (high - low) * _UP


def _profile(axis: Floats, width: float, low: float, high: float, power: int) -> Floats:
    cells = int(
        min(max(64, math.ceil((high - low) / width * 1000)), 20_000, max(64, _MOST // len(axis)))
    )
    edges = np.linspace(low, high, cells + 1)
    edges[0], edges[-1] = low, high
    weights = np.zeros(cells)
    for p in axis:
        gap = np.maximum(np.maximum(edges[:-1] - p, p - edges[1:]), 0.0) / width
        weights += np.exp(-0.5 * power * gap * gap)
    return weights
