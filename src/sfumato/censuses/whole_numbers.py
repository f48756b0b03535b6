"""Round groups of numbers to whole ones with given sums: project, then give out what is left.

*Project*  Find the nearest numbers between two ends with a given sum: x = clip(t − λ·v, low, high),
           with one λ for each group.
*Round*    Round down, then add 1 to the largest remainders until the sum is reached.
"""

from __future__ import annotations

import numpy as np

from .spine import Indices, Values

_TURNS = 64
_SLACK = 1e-9  # doubles this near below a whole number are that number


def round_groups(
    goals: Values, weights: Values, ends: tuple[Indices, Indices], groups: Indices, sums: Indices
) -> Indices:
    """Return whole numbers near `goals`, each between its two ends, with the given sum for each
    group. `groups` names the group of each number and never falls; larger `weights` move further.
    A sum must lie between the sums of the ends.
    """
    low, high = ends
    if not len(goals):
        return np.zeros(0, dtype=np.int64)
    starts = np.searchsorted(groups, np.arange(len(sums)))
    level = _levels(goals, weights, ends, groups, starts, sums)
    near = np.clip(goals - level[groups] * weights, low, high)
    counts = np.clip(np.floor(near + _SLACK).astype(np.int64), low, high)
    while True:  # once, unless doubles left a λ too far off
        rest = sums - _sum_groups(counts, starts)
        if not rest.any():
            return counts
        move = np.sign(rest)[groups]
        room = np.where(move > 0, counts < high, counts > low) & (move != 0)
        order = np.lexsort((np.where(room, move * (counts - near), np.inf), groups))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        counts = counts + move * (room & (rank - starts[groups] < np.abs(rest)[groups]))


def _sum_groups(values: Indices, starts: Indices) -> Indices:
    """Sum the numbers of each group; 0 for a group without numbers."""
    running = np.concatenate([[0], np.cumsum(values)])
    sums: Indices = running[np.append(starts[1:], len(values))] - running[starts]
    return sums


def _levels(
    goals: Values,
    weights: Values,
    ends: tuple[Indices, Indices],
    groups: Indices,
    starts: Indices,
    sums: Indices,
) -> Values:
    """Find λ of each group by halving an interval that holds it."""
    low, high = ends
    most = (goals - low) / weights  # at this λ the number reaches its lower end
    least = (goals - high) / weights
    filled = starts < np.append(starts[1:], len(goals))
    below, above = np.zeros(len(sums)), np.zeros(len(sums))
    below[filled] = np.minimum.reduceat(least, starts[filled])
    above[filled] = np.maximum.reduceat(most, starts[filled])
    for _ in range(_TURNS):
        middle = (below + above) / 2
        clipped = np.clip(goals - middle[groups] * weights, low, high)
        reached = np.bincount(groups, clipped, len(sums)) > sums
        below = np.where(reached, middle, below)
        above = np.where(reached, above, middle)
    return (below + above) / 2
