"""What a group gives away about everybody in it, although nobody in it is found: l-diversity and
t-closeness.

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
"""The l and the t of the profiles."""

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """A sensitive column in the cells of others."""

    sensitive: str
    values: int  # different ones in the whole table
    distinct: int  # l
    entropy: float  # entropy l
    distance: float  # t
    ordered: bool  # whether t is the distance of ordered values
    certain: float  # the share of people in cells with one value only
    fewer: Mapping[int, float] = field(
        hash=False
    )  # l → the share of people in cells with fewer than l values
    further: Mapping[float, float] = field(
        hash=False
    )  # t → the share of people in cells further than t from the whole table

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
        told = (
            f"In its least diverse group {self.sensitive} takes {self.distinct} of "
            f"{self.values} values"
        )
        told += (
            (
                f"; {per_cent(self.certain)} of the people are in a group where it takes "
                f"one, and is known of all of them."
            )
            if self.distinct == 1
            else "."
        )
        kind = "ordered values" if self.ordered else "shares"
        return (
            told,
            (
                f"The group least like the whole table is {self.distance:.3g} away from it "
                f"(0 to 1, by {kind})."
            ),
        )


def diversity(read: Columns, cells: Whole, sensitive: str) -> Diversity:
    """The profile of a sensitive column in these cells."""
    ordered = is_ordered(read, sensitive)
    codes, counts = spread(read, cells, sensitive, ordered=ordered)
    sizes = np.bincount(cells)
    cell, value, many = counts
    distinct = np.bincount(cell, minlength=len(sizes))
    share = many / sizes[cell]
    entropies = np.bincount(cell, weights=-share * np.log(share), minlength=len(sizes))
    whole = np.bincount(codes) / read.n
    away = (
        _moved(counts, sizes, np.bincount(codes))
        if ordered
        else np.bincount(cell, weights=np.maximum(share - whole[value], 0.0))
    )
    return Diversity(
        sensitive=sensitive,
        values=len(whole),
        distinct=int(distinct.min()),
        entropy=float(np.exp(max(entropies.min(), 0.0))),
        distance=float(away.max()),
        ordered=ordered,
        certain=float(sizes[distinct == 1].sum()) / read.n,
        fewer={
            few: float(sizes[distinct < few].sum()) / read.n for few in _FEW if few <= len(whole)
        },
        further={far: float(sizes[away > far].sum()) / read.n for far in _FAR},
    )


def is_ordered(read: Columns, name: str) -> bool:
    """Whether a column holds numbers or dates, whose values lie one after another."""
    from pyarrow import types

    kind = read.arrow.column(name).type
    return read.numeric(name) or bool(types.is_date(kind) or types.is_timestamp(kind))


def spread(
    read: Columns, cells: Whole, sensitive: str, *, ordered: bool
) -> tuple[Whole, tuple[Whole, Whole, Whole]]:
    """Codes of the sensitive values, ascending where they are ordered; and of each cell and value
    that occur together, how often.
    """
    codes = (
        np.unique(read.numbers(sensitive), return_inverse=True)[1].astype(np.int64)
        if ordered
        else read.codes(sensitive)
    )
    width = int(codes.max()) + 1
    pairs, many = np.unique(cells * width + codes, return_counts=True)
    return codes, (pairs // width, pairs % width, many.astype(np.int64))


def _moved(counts: tuple[Whole, Whole, Whole], sizes: Whole, whole: Whole) -> Real:
    """The earth mover's distances of all cells, in the time of a sort: not cells times values.

    From one of its values to the next a cell's cumulated share P is one number, and that of all, Q,
    ascends. So Σ |P − Q_i| over these is taken from two sums of Q, below P and above it. Sums of
    counts are exact, as integers.
    """
    cell, value, many = counts
    width, n = len(whole), int(whole.sum())
    if width == 1:
        return np.zeros(len(sizes))
    rising = np.cumsum(whole)  # n·Q
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
    found: Real = (sums[value[first]] / n + np.bincount(cell, weights=above + below)) / (
        width - 1
    )  # before its first value P is 0
    return found
