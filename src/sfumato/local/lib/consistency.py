"""Frequencies as frequencies have to be: not negative, and of sum 1. Processing of what is public
already; it costs nothing.

*Unbiased*     What an oracle estimates is right on average and may be negative. Means of several
               estimates, and intervals, are made of that.
*Norm-sub*     Add the same number to all and cut at zero, so that the sum is 1 (Wang et al. 2020).
               This is the projection on the simplex: the nearest such frequencies in squared
               distance, never farther from the truth than the estimate was. `project` of mechanisms
               does it.
*Clip*         Cut at zero and at one, each for itself: for single frequencies. The sum is then too
               large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...mechanisms.shared.project_simplex import project

Floats = NDArray[np.float64]
Consistency = Literal["norm-sub", "projection", "clip"]


def norm_sub(frequencies: Floats) -> Floats:
    """max(f + δ, 0) with the δ at which the sum is 1, by its own definition: take the negative out,
    share the surplus among what is left, again.
    """
    kept = np.ones(frequencies.size, dtype=np.bool_)
    found = frequencies.copy()
    while True:
        found = np.where(kept, frequencies + (1.0 - frequencies[kept].sum()) / kept.sum(), 0.0)
        if (found >= 0).all():
            return found
        kept &= found > 0


CONSISTENT: dict[str, Callable[[Floats], Floats]] = {
    "norm-sub": norm_sub,
    "projection": project,
    "clip": lambda frequencies: np.clip(frequencies, 0.0, 1.0),
}
"""How estimates are made consistent, by name."""


def consistent(frequencies: Floats, method: Consistency) -> Floats:
    """The frequencies made consistent in one of these ways."""
    if method not in CONSISTENT:
        raise Refused(
            "local.consistency",
            f"method={method!r}",
            "there is no such way",
            f"one of {', '.join(CONSISTENT)}",
        )
    return CONSISTENT[method](frequencies)
