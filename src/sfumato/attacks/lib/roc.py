"""ROC curves: how well a score separates two groups, for every threshold.

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
    """Detections against false alarms, from the strictest threshold to none."""

    false_alarms: Real
    detected: Real
    area: float

    def at(self, false_alarms: Real) -> Real:
        """Return the share detected at these false-alarm rates; between thresholds by a coin."""
        return np.interp(false_alarms, self.false_alarms, self.detected)


def roc(inside: Real, outside: Real) -> Roc:
    """Compute the curve from the scores of members and of non-members."""
    values, which = np.unique(np.concatenate([inside, outside]), return_inverse=True)
    inside_shares = np.bincount(which[: len(inside)], minlength=len(values)) / len(inside)
    outside_shares = np.bincount(which[len(inside) :], minlength=len(values)) / len(outside)
    detected = np.concatenate([[0.0], np.cumsum(inside_shares[::-1])])
    false_alarms = np.concatenate([[0.0], np.cumsum(outside_shares[::-1])])
    return Roc(
        false_alarms,
        detected,
        float(inside_shares @ (np.cumsum(outside_shares) - outside_shares / 2)),
    )
