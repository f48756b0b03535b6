"""The tree of places as arrays: every level sorted by path, so that children stand together.

*Levels*   Level 0 holds the largest places, the last level the smallest. Level l ≥ 1 has an array
           that gives the place above each of its places; the array never falls, and every place
           above the last level has at least one place below it. The numbers of children may differ.
*Several*  There may be several places at level 0: then each is the root of a tree of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Values = NDArray[np.float64]
N = TypeVar("N", np.int64, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Spine:
    """The parents of every level below the first, and the number of places at each level."""

    sizes: tuple[int, ...]
    parents: tuple[Indices, ...]
    starts: tuple[Indices, ...]  # of level l: the first place of level l + 1 below each place

    @classmethod
    def of(cls, size: int, parents: Sequence[Indices]) -> Spine:
        """Build a tree from the number of its roots and the parents of each further level."""
        sizes, starts = [size], []
        for above in parents:
            first = np.searchsorted(above, np.arange(sizes[-1]))
            assert (np.diff(above) >= 0).all()
            assert np.array_equal(np.unique(above), np.arange(sizes[-1]))
            starts.append(first)
            sizes.append(len(above))
        return cls(tuple(sizes), tuple(parents), tuple(starts))

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.sizes)

    def sum_children(self, level: int, values: NDArray[N]) -> NDArray[N]:
        """Sum values of level + 1 over the children of each place of a level."""
        sums: NDArray[N] = np.add.reduceat(values, self.starts[level], axis=0)
        return sums

    def sum_up(self, values: NDArray[N]) -> list[NDArray[N]]:
        """Sum values of the last level to all levels, from the first to the last."""
        levels = [values]
        for level in range(self.depth - 2, -1, -1):
            levels.append(self.sum_children(level, levels[-1]))
        return levels[::-1]

    def ancestors(self) -> list[Indices]:
        """Return, for every level, the place that holds each place of the last level."""
        at = [np.arange(self.sizes[-1])]
        for above in self.parents[::-1]:
            at.append(above[at[-1]])
        return at[::-1]

    def ends(self, level: int) -> Indices:
        """Return the end of the children of each place of a level: the last place plus one."""
        return np.append(self.starts[level][1:], self.sizes[level + 1])


def level_paths(paths: Sequence[tuple[object, ...]]) -> list[list[tuple[object, ...]]]:
    """List the places of each level, from the sorted paths of the smallest ones."""
    depths = range(1, len(paths[0]) + 1)
    return [list(dict.fromkeys(path[:depth] for path in paths)) for depth in depths]


def spine_of(levels: Sequence[Sequence[tuple[object, ...]]]) -> Spine:
    """Build the tree of the places of each level."""
    parents: list[Indices] = []
    for above, places in pairwise(levels):
        at = {path: i for i, path in enumerate(above)}
        parents.append(np.array([at[path[:-1]] for path in places], dtype=np.int64))
    return Spine.of(len(levels[0]), parents)
