"""Project numbers onto the nearest non-negative numbers with a given sum: post-processing of
released numbers, so it costs nothing.

*Steps*   The nearest point (least squares) of {x ≥ 0, Σx = T} to v is max(v − τ, 0), with τ = (Σ of
          the j largest − T)/j for the largest j at which the j-th largest stays above τ. For
          integers the same, exactly, and then the ⌊·⌋ of each with the missing units given to the
          largest remainders, the first of equals: whole numbers, non-negative, of sum T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...noise.law import Integers


def project(values: NDArray[np.float64], total: float = 1.0) -> NDArray[np.float64]:
    """Return the nearest non-negative numbers of this sum."""
    flat = values.ravel()
    falling = -np.sort(-flat)
    excess = np.cumsum(falling) - total
    last = (
        int(np.flatnonzero(falling * np.arange(1, flat.size + 1) > excess)[-1]) if total > 0 else 0
    )
    return (
        np.maximum(values - excess[last] / (last + 1), 0.0) if total > 0 else np.zeros_like(values)
    )


def apportion(counts: Integers, total: int) -> NDArray[np.int64]:
    """Return non-negative whole numbers of sum `total`, nearest to the counts up to rounding."""
    flat = [int(c) for c in counts.ravel()]
    if total <= 0 or not flat:
        return np.zeros(counts.shape, dtype=np.int64)
    largest, excess, sum_ = 1, 0, 0
    for j, c in enumerate(sorted(flat, reverse=True), 1):
        sum_ += c
        if c * j > sum_ - total:
            largest, excess = j, sum_ - total
    parts = [divmod(max(c * largest - excess, 0), largest) for c in flat]
    missing = total - sum(quotient for quotient, _ in parts)
    order = sorted(range(len(flat)), key=lambda i: -parts[i][1])
    rounded = np.array([quotient for quotient, _ in parts], dtype=np.int64)
    rounded[order[:missing]] += 1
    return rounded.reshape(counts.shape)
