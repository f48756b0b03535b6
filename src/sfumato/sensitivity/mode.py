"""Sensitivity of the mode: the most frequent of finitely many categories, where one record may be
replaced.

*Inverse*    the number of records that must change for category z to be (one of) the most frequent:
             the least k with Σ_j (c_j − c_z − k)₊ ≤ k, as each change moves a record to z, best
             from a category that is still too large. It moves by at most 1 between neighbours.
*Stable*     the number of records that must change before one more change can change the mode:
             (⌈lead/2⌉ − 1)₊, lead the first category's lead over the second, as a change moves the
             lead by at most 2. It moves by at most 1 between neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def changes_needed(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each category, the number of records that must change for it to be a mode."""
    return np.array([_least(counts, z) for z in range(len(counts))], dtype=np.int64)


def distance_to_instability(counts: NDArray[np.int64]) -> int:
    """Count the records that must change before one more change can change the mode."""
    order = np.sort(counts)[::-1]
    lead = int(order[0] - order[1]) if len(order) > 1 else int(2 * counts.sum())
    return max(0, (lead + 1) // 2 - 1)


def _least(counts: NDArray[np.int64], z: int) -> int:
    low, high = 0, int(counts.max() - counts[z])
    while low < high:
        middle = (low + high) // 2
        too_many = int(np.maximum(counts - counts[z] - middle, 0).sum())
        low, high = (low, middle) if too_many <= middle else (middle + 1, high)
    return low
