"""Make estimated frequencies consistent: not negative, and of sum 1. This post-processes public
numbers and costs nothing.

*Unbiased*     An oracle's estimate is unbiased and may be negative. Use it for intervals and for
               means of several estimates.
*Norm-sub*     Add the same number to all and cut at zero, so that the sum is 1 (Wang et al. 2020).
               This is the projection on the simplex: the nearest such frequencies in squared
               distance, never farther from the truth than the estimate was. `project` of mechanisms
               does it.
*Clip*         Clip each frequency to [0, 1]: for single frequencies. The sum is then too large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.shared.project_simplex import project
from .. import local_refusals as refusals

Floats = NDArray[np.float64]
Consistency = Literal["norm-sub", "projection", "clip"]


def norm_sub(frequencies: Floats) -> Floats:
    """Return max(f + δ, 0) with the δ at which the sum is 1, by its definition: drop the negative
    ones, spread the surplus over the rest, repeat.
    """
    positive = np.ones(frequencies.size, dtype=np.bool_)
    shifted = frequencies.copy()
    while True:
        surplus = (1.0 - frequencies[positive].sum()) / positive.sum()
        shifted = np.where(positive, frequencies + surplus, 0.0)
        if (shifted >= 0).all():
            return shifted
        positive &= shifted > 0


CONSISTENT: dict[str, Callable[[Floats], Floats]] = {
    "norm-sub": norm_sub,
    "projection": project,
    "clip": lambda frequencies: np.clip(frequencies, 0.0, 1.0),
}
"""The methods that make estimates consistent, by name."""


def make_consistent(frequencies: Floats, method: Consistency) -> Floats:
    """Make frequencies consistent by one of these methods."""
    if method not in CONSISTENT:
        raise refusals.UNKNOWN_CONSISTENCY_METHOD(method=method, methods=", ".join(CONSISTENT))
    return CONSISTENT[method](frequencies)
