"""l-diversity and t-closeness: what a group reveals about all its members, although nobody is
singled out.

*Distinct*  l: the fewest different sensitive values in a cell. 1 means that there is a cell whose
            members all have the same: no need to find out who is who.
*Entropy*   e^H, with the smallest entropy H of a cell: as many values as would be as uncertain if
            all were equally frequent.
*Distance*  t: of a cell's values p from those of the whole table q. Names: total variation Σ (p −
            q)₊. Numbers, in the order of their m different values: Σ |P_i − Q_i|/(m − 1) with the
            cumulated shares P and Q, which is the earth mover's distance at a step of 1/(m − 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .attack_text import per_cent

if TYPE_CHECKING:
    from .owner_table import Columns

_FEW, _FAR = (2, 3, 4, 5, 10), (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""The values of l and of t in the profiles."""

Integers = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """The diversity of a sensitive column in the cells of other columns."""

    sensitive: str
    values: int  # different ones in the whole table
    distinct: int  # l
    entropy: float  # entropy l
    distance: float  # t
    ordered: bool  # whether t is the distance of ordered values
    certain: float  # the share of people in cells with one value only
    # l → the share of people in cells with fewer than l values
    fewer: Mapping[int, float] = field(hash=False)
    # t → the share of people in cells further than t from the whole table
    further: Mapping[float, float] = field(hash=False)

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "l": self.distinct,
            "entropy l": self.entropy,
            "t": self.distance,
            "certain": self.certain,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        diverse = (
            f"In its least diverse group {self.sensitive} takes {self.distinct} of "
            f"{self.values} values"
        )
        diverse += (
            (
                f"; {per_cent(self.certain)} of the people are in a group where it takes only "
                f"one value, which is then known for all of them."
            )
            if self.distinct == 1
            else "."
        )
        kind = "ordered values" if self.ordered else "shares"
        return (
            diverse,
            (
                f"The group least like the whole table is {self.distance:.3g} away from it "
                f"(0 to 1, by {kind})."
            ),
        )


def diversity(rows: Columns, cells: Integers, sensitive: str) -> Diversity:
    """Measure the diversity of a sensitive column in these cells."""
    ordered = is_ordered(rows, sensitive)
    codes, counts = count_by_cell(rows, cells, sensitive, ordered=ordered)
    sizes = np.bincount(cells)
    cell, value, many = counts
    distinct = np.bincount(cell, minlength=len(sizes))
    share = many / sizes[cell]
    entropies = np.bincount(cell, weights=-share * np.log(share), minlength=len(sizes))
    overall = np.bincount(codes) / rows.n
    away = (
        _earth_mover_distances(counts, sizes, np.bincount(codes))
        if ordered
        else np.bincount(cell, weights=np.maximum(share - overall[value], 0.0))
    )
    return Diversity(
        sensitive=sensitive,
        values=len(overall),
        distinct=int(distinct.min()),
        entropy=float(np.exp(max(entropies.min(), 0.0))),
        distance=float(away.max()),
        ordered=ordered,
        certain=float(sizes[distinct == 1].sum()) / rows.n,
        fewer={
            few: float(sizes[distinct < few].sum()) / rows.n for few in _FEW if few <= len(overall)
        },
        further={far: float(sizes[away > far].sum()) / rows.n for far in _FAR},
    )


def is_ordered(rows: Columns, name: str) -> bool:
    """Whether a column holds numbers or dates, whose values lie one after another."""
    from pyarrow import types

    kind = rows.arrow.column(name).type
    return rows.numeric(name) or bool(types.is_date(kind) or types.is_timestamp(kind))


def count_by_cell(
    rows: Columns, cells: Integers, sensitive: str, *, ordered: bool
) -> tuple[Integers, tuple[Integers, Integers, Integers]]:
    """Return codes of the sensitive values, ascending where they are ordered; and how often each
    cell and value occur together.
    """
    codes = (
        np.unique(rows.numbers(sensitive), return_inverse=True)[1].astype(np.int64)
        if ordered
        else rows.codes(sensitive)
    )
    width = int(codes.max()) + 1
    pairs, many = np.unique(cells * width + codes, return_counts=True)
    return codes, (pairs // width, pairs % width, many.astype(np.int64))


def _earth_mover_distances(
    counts: tuple[Integers, Integers, Integers], sizes: Integers, overall: Integers
) -> Real:
    """Compute the earth mover's distances of all cells in the time of a sort, not cells × values.

    Between two of its values a cell's cumulated share P is constant, and the overall share Q
    ascends. So Σ |P − Q_i| over these follows from two sums of Q, below P and above it. Sums of
    counts are exact, as integers.
    """
    cell, value, many = counts
    width, n = len(overall), int(overall.sum())
    if width == 1:
        return np.zeros(len(sizes))
    rising = np.cumsum(overall)  # n·Q
    sums = np.concatenate([[0], np.cumsum(rising)])  # n·(Q_0 + … + Q_(i−1))
    first = np.searchsorted(cell, np.arange(len(sizes)))
    reached = np.cumsum(many)
    reached -= (reached[first] - many[first])[cell]  # of the cell, up to this value
    last = np.append(cell[1:] != cell[:-1], True)
    end = np.where(last, width, np.append(value[1:], width))
    share = reached / sizes[cell]
    turn = np.clip(np.searchsorted(rising, share * n), value, end)  # from here on Q is not below P
    above = share * (turn - value) - (sums[turn] - sums[value]) / n
    below = (sums[end] - sums[turn]) / n - share * (end - turn)
    distances: Real = (sums[value[first]] / n + np.bincount(cell, weights=above + below)) / (
        width - 1
    )  # before its first value P is 0
    return distances
