"""Bound the tails of weighted sums of independent symmetric draws, by characteristic functions.

*Bound*     With φ(u) = E cos(u·S), T the band and Vaaler's kernels,
            P(S ≥ x) ≤ 1/2 − ∫₀¹ (((1 − t)·cot πt + 1/π)·sin(T·t·x) − (1 − t)·cos(T·t·x))·φ(T·t) dt.
            It holds for every law, also where S lives on a lattice, and uses φ below T alone. It is
            above the tail by about π/T times the density at x.
*Doubles*   The integral is a sum of Gauss–Legendre rules on equal panels. MARGIN covers its errors
            where |S − x| seldom exceeds REACH·panels/T.
*Proof*     docs/proofs/percentiles.md, after Prawitz 1972 and Vaaler 1985
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

MARGIN = 2.0**-26
"""The assumed error of a tail from the integral: 2^10 times the observed error."""

REACH = 80
"""The largest T·|S − x| for each panel that the rules resolve."""

_POINTS = 32


@lru_cache(maxsize=8)
def integral_nodes(panels: int) -> tuple[Doubles, Doubles]:
    """Return the points of the rules on [0, 1], and their weights."""
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    starts = np.arange(panels)[:, None]
    return ((starts + (points + 1) / 2) / panels).ravel(), np.tile(weights / 2 / panels, panels)


def tail_bounds(characteristic: Doubles, band: float, ends: Doubles) -> Doubles:
    """Bound P(S ≥ end) for several sums: a row of φ(band·t) at the nodes t, and an end, for each.
    MARGIN is added.
    """
    t, weights = integral_nodes(characteristic.shape[1] // _POINTS)
    angles = np.multiply.outer(ends, band * t)
    odd = weights * ((1 - t) / np.tan(math.pi * t) + 1 / math.pi)
    even = weights * (1 - t)
    kernel = np.sin(angles)
    kernel *= odd
    np.cos(angles, out=angles)
    angles *= even
    kernel -= angles
    kernel *= characteristic
    bounds: Doubles = 0.5 - kernel.sum(axis=1) + MARGIN
    return bounds
