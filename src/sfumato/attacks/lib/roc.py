"""How well a score tells two kinds apart: every threshold at once.

*Curve*    For each threshold, the share of those outside whose score is above it (false alarms) and
           of those inside (found).
*Area*     P(score inside > score outside) + ½·P(equal): ½ for guessing, 1 for never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """Found against false alarms, from the strictest threshold to none."""

    false_alarms: Real
    found: Real
    area: float

    def at(self, false_alarms: Real) -> Real:
        """The share found at these shares of false alarms, between thresholds by a coin."""
        return np.interp(false_alarms, self.false_alarms, self.found)


def roc(inside: Real, outside: Real) -> Roc:
    """The curve of scores of those inside and those outside."""
    values, which = np.unique(np.concatenate([inside, outside]), return_inverse=True)
    one = np.bincount(which[: len(inside)], minlength=len(values)) / len(inside)
    two = np.bincount(which[len(inside) :], minlength=len(values)) / len(outside)
    found, false_alarms = (
        np.concatenate([[0.0], np.cumsum(one[::-1])]),
        np.concatenate([[0.0], np.cumsum(two[::-1])]),
    )
    return Roc(false_alarms, found, float(one @ (np.cumsum(two) - two / 2)))
