"""Count all points of a grid at once, in a tree: finishing can read any number of quantiles.

*Tree*      The points are the leaves, `branching` under each node. A row is counted once on each
            level below the root: in its point, in the block of points that this is in, and so on.
            How much weight lies at or below a point is the sum of at most branching − 1 nodes on
            each level.
*Shape*     The one of which such a sum is least noisy, by h³·(b − 1): each of h levels has a noise
            of scale h, and about (b − 1)/2 of its nodes are added.
*Coarse*    More than 2^12 points are counted in runs of 2, 4, … of them.
*Proof*     docs/proofs/percentiles.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TREE_BITS = 12
_DEEPEST = 4


Integers = NDArray[Any]
"""int64, or Python integers where 62 bits may be too few."""


@dataclass(frozen=True, slots=True)
class CountTree:
    """The shape of a tree: `leaves` in use, `branching` children of every node, `levels` below the
    root; a leaf holds 2^shift points of the grid.
    """

    leaves: int
    branching: int
    levels: int
    shift: int = 0

    @classmethod
    def over(cls, points: int) -> CountTree:
        """Return the tree over `points` whose sums are least noisy."""
        shift = max(0, (points - 1).bit_length() - TREE_BITS)
        leaves = ((points - 1) >> shift) + 1
        shapes = [(_root(leaves, levels), levels) for levels in range(1, _DEEPEST + 1)]
        branching, levels = min(shapes, key=lambda shape: shape[1] ** 3 * (shape[0] - 1))
        return cls(leaves, branching, levels, shift)

    @property
    def points(self) -> int:
        """Return how many points of the grid a leaf holds."""
        return 1 << self.shift

    @property
    def starts(self) -> tuple[int, ...]:
        """Return the cell at which each level begins, from the coarsest to the leaves, and the
        number of all cells.
        """
        starts = [0]
        for level in range(1, self.levels + 1):
            starts.append(starts[-1] + self.branching**level)
        return tuple(starts)

    @property
    def cells(self) -> int:
        return self.starts[-1]

    def count(
        self,
        out: Integers,
        rows: NDArray[np.int64],
        points: NDArray[np.int64],
        weights: Integers,
    ) -> None:
        """Add weights of points (from 0 on) to the nodes above them, each in its row."""
        leaf = np.clip(points >> self.shift, 0, self.leaves - 1)
        for level, start in enumerate(self.starts[:-1], 1):
            np.add.at(out, (rows, start + leaf // self.branching ** (self.levels - level)), weights)


def _root(leaves: int, levels: int) -> int:
    """Return the least number of children with which `levels` hold all leaves."""
    branching: int = max(2, round(leaves ** (1 / levels)) - 1)
    while pow(branching, levels) < leaves:
        branching += 1
    return branching
