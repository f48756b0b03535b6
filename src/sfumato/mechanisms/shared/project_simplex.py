"""The nearest non-negative numbers with a given sum: processing of what has been released already,
so it costs nothing.

*Steps*   The nearest point (least squares) of {x ≥ 0, Σx = T} to v is max(v − τ, 0), with τ = (Σ of
          the j largest − T)/j for the largest j at which the j-th largest stays above τ. For
          integers the same, exactly, and then the ⌊·⌋ of each with the missing units given to the
          largest remainders, the first of equals: whole numbers, non-negative, of sum T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def project(values: NDArray[np.float64], total: float = 1.0) -> NDArray[np.float64]:
    """The nearest non-negative numbers of this sum."""
    flat = values.ravel()
    falling = -np.sort(-flat)
    excess = np.cumsum(falling) - total
    last = (
        int(np.flatnonzero(falling * np.arange(1, flat.size + 1) > excess)[-1]) if total > 0 else 0
    )
    return (
        np.maximum(values - excess[last] / (last + 1), 0.0) if total > 0 else np.zeros_like(values)
    )


def apportion(counts: NDArray[Any], total: int) -> NDArray[np.int64]:
    """Non-negative whole numbers of sum `total`, nearest to the counts but for rounding to whole
    numbers.
    """
    flat = [int(c) for c in counts.ravel()]
    if total <= 0 or not flat:
        return np.zeros(counts.shape, dtype=np.int64)
    kept, excess, sum_ = 1, 0, 0
    for j, c in enumerate(sorted(flat, reverse=True), 1):
        sum_ += c
        if c * j > sum_ - total:
            kept, excess = j, sum_ - total
    parts = [divmod(max(c * kept - excess, 0), kept) for c in flat]
    missing = total - sum(whole for whole, _ in parts)
    order = sorted(range(len(flat)), key=lambda i: -parts[i][1])
    whole = np.array([w for w, _ in parts], dtype=np.int64)
    whole[order[:missing]] += 1
    return whole.reshape(counts.shape)
