"""Public bins of a column of numbers: half-open intervals between edges, the last one closed, so
that it contains the upper end of the range.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, exact
from . import mechanism_refusals as refusals
from .categories import MOST, MOST_SHOWN, Labels
from .data_arrays import numbers
from .mechanism import Neighbours

Outside = Literal["clip", "drop"]
OUTSIDE: tuple[Outside, ...] = ("clip", "drop")


class BinOptions(Neighbours, total=False):
    """The keywords of all mechanisms that count in bins."""

    outside: Outside


@dataclass(frozen=True, slots=True, repr=False)
class Edges:
    """Bins [e₀, e₁), [e₁, e₂), …, [e_{k−1}, e_k]. Edges are doubles: values are compared with
    exactly these.
    """

    ends: tuple[float, ...]

    def __init__(self, ends: Iterable[Number]) -> None:
        edges = tuple(float(exact(end, "edge")) for end in ends)
        if (
            not 2 <= len(edges) <= MOST
            or any(not a < b for a, b in pairwise(edges))
            or not all(map(math.isfinite, edges))
        ):
            raise refusals.EDGES_NOT_RISING(edges=len(edges))
        object.__setattr__(self, "ends", edges)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def cell_name(self, place: int) -> str:
        """A bin as text: [0, 10), and [90, 100] for the last one."""
        low, high = self.ends[place : place + 2]
        return f"[{low:g}, {high:g}{']' if place == len(self) - 1 else ')'}"

    def __repr__(self) -> str:
        if len(self.ends) <= MOST_SHOWN:
            return f"Edges(ends={self.ends!r})"
        return f"Edges({self.ends[0]:g}, {self.ends[1]:g}, …, {self.ends[-1]:g}: {len(self)} bins)"

    @property
    def middles(self) -> NDArray[np.float64]:
        """The middle of each bin."""
        ends = np.array(self.ends)
        return ends[:-1] + np.diff(ends) / 2

    def powers(
        self, power: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """x^power at the middle of each bin, and the least and the largest in the bin."""
        ends = np.array(self.ends) ** power
        low, high = np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:])
        around_zero = (np.array(self.ends[:-1]) < 0) & (np.array(self.ends[1:]) > 0)
        return self.middles**power, np.where(around_zero & (power % 2 == 0), 0.0, low), high

    def codes(self, values: Iterable[object], outside: Outside) -> NDArray[np.int64]:
        """The bin of each value; −1 for NaN, and for values outside if those are dropped."""
        column, ends = numbers(values), np.array(self.ends)
        bins = ends.searchsorted(column, side="right").astype(np.int64) - 1
        bins[column == ends[-1]] = len(self) - 1
        inside = np.clip(bins, 0, len(self) - 1)
        return np.where(np.isnan(column) | ((inside != bins) & (outside == "drop")), -1, inside)


Axis = Edges | Labels
EdgeLists = Iterable[Number] | Iterable[Iterable[Number]]
"""The edges of one axis, or of several."""


def axes_of(
    edges: EdgeLists | None, categories: Iterable[Hashable] | None, axes: Iterable[Axis] | None
) -> tuple[Axis, ...]:
    """Build the axes of a histogram from exactly one of three arguments."""
    named = [
        name
        for name, value in (("edges", edges), ("categories", categories), ("axes", axes))
        if value is not None
    ]
    if len(named) != 1:
        raise refusals.NOT_EXACTLY_ONE_AXIS_KIND(given=", ".join(named))
    built: tuple[Axis, ...] = () if axes is None else tuple(axes)
    if categories is not None:
        built = (Labels(categories),)
    elif edges is not None:
        built = _edges(edges)
    if not built or not all(isinstance(axis, Edges | Labels) for axis in built):
        raise refusals.NOT_AN_AXIS()
    cells = math.prod(len(axis) for axis in built)
    if cells > MOST:
        raise refusals.TOO_MANY_CELLS(cells=cells)
    return built


def _edges(edges: EdgeLists) -> tuple[Edges, ...]:
    """Build one axis from numbers, or several from lists of numbers."""
    numbers: list[Number] = []
    lists: list[Iterable[Number]] = []
    for part in edges:
        if isinstance(part, Iterable) and not isinstance(part, str):
            lists.append(part)
        else:
            numbers.append(part)
    if numbers and lists:
        raise refusals.NOT_AN_AXIS()
    return tuple(Edges(part) for part in lists) if lists else (Edges(numbers),)
