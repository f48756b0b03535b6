"""From one count of the smallest cells to all tables of a census, in exact integers.

*Engine*   counts rows once, by all levels of the geography and all attributes: one line for each
           combination that occurs.
*Sums*     Every table, at every level, is a sum of these lines. A line at a place that is not
           listed, or in a cell that is declared impossible, is in none of the tables.
*Joint*    A line is in exactly one cell of every table: so the tables move together
           (docs/proofs/census.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...noise.law import Integers
from .read_results import ResultGroups, integers

if TYPE_CHECKING:
    import pyarrow as pa

TableKey = tuple[int, tuple[int, ...]]
"""A level, and the attributes of a marginal by their places."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceCounts:
    """How the lines of the engine become tables."""

    places: ResultGroups  # the paths of the smallest places
    attributes: tuple[ResultGroups, ...]  # the public keys of each attribute
    ancestors: tuple[NDArray[np.int64], ...]  # by level: the place that holds each smallest one
    sizes: tuple[int, ...]  # by level: the number of places
    possible: NDArray[np.bool_]  # of each cell of all attributes
    tables: tuple[TableKey, ...]
    shift: tuple[int, ...]  # by table: bits that its integers are moved up, so that noise is fine

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of keys of each attribute."""
        return tuple(map(len, self.attributes))

    def count(self, tally: pa.Table) -> Iterator[Integers]:
        """Yield the exact tables, one after the other: places × cells."""
        place = self.places.places(tally)
        codes = [attribute.places(tally) for attribute in self.attributes]
        counts = integers(tally.column("s0_0"), wide=False)
        inside = place >= 0
        for code in codes:
            inside &= code >= 0
        cell = _flatten(codes, self.shape, range(len(codes)), len(place))
        inside &= self.possible[np.where(inside, cell, 0)]
        place, counts = place[inside], counts[inside]
        codes = [code[inside] for code in codes]
        for (level, table), shift in zip(self.tables, self.shift, strict=True):
            width = math.prod(self.shape[i] for i in table)
            out = np.zeros(self.sizes[level] * width, dtype=np.int64)
            at = self.ancestors[level][place] * width
            np.add.at(out, at + _flatten(codes, self.shape, table, len(place)), counts)
            out <<= shift
            yield out.reshape(self.sizes[level], width)


def _flatten(
    codes: Sequence[NDArray[np.int64]], shape: Sequence[int], table: Sequence[int], size: int
) -> NDArray[np.int64]:
    """Return the cell of each line in a marginal; the last attribute changes fastest."""
    cell = np.zeros(size, dtype=np.int64)
    for i in table:
        cell = cell * shape[i] + codes[i]
    return cell
