"""Public cells of a column of numbers: half-open intervals between edges, the last one closed, so
that the upper end of the range has a place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...exact.numbers import Number, exact
from .categories import MOST, Labels
from .data_arrays import numbers

Outside = Literal["clip", "drop"]
OUTSIDE: tuple[Outside, ...] = ("clip", "drop")


@dataclass(frozen=True, slots=True)
class Edges:
    """Bins [e₀, e₁), [e₁, e₂), …, [e_{k−1}, e_k]. Edges are doubles: values are compared with
    exactly these.
    """

    ends: tuple[float, ...]

    def __init__(self, ends: Iterable[Number]) -> None:
        found = tuple(float(exact(end, "edge")) for end in ends)
        if (
            not 2 <= len(found) <= MOST
            or any(not a < b for a, b in pairwise(found))
            or not all(map(math.isfinite, found))
        ):
            raise Refused(
                "histogram.edges",
                f"{len(found)} edges",
                "edges rise from each to the next, and two make one bin",
                "edges=range(0, 101, 10)",
            )
        object.__setattr__(self, "ends", found)

    def __len__(self) -> int:
        return len(self.ends) - 1

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

    def codes(self, values: Any, outside: Outside) -> NDArray[np.int64]:
        """The bin of each value; −1 for NaN, and for values outside where they are dropped."""
        column, ends = numbers(values), np.array(self.ends)
        found = ends.searchsorted(column, side="right").astype(np.int64) - 1
        found[column == ends[-1]] = len(self) - 1
        inside = np.clip(found, 0, len(self) - 1)
        return np.where(np.isnan(column) | ((inside != found) & (outside == "drop")), -1, inside)


Axis = Edges | Labels


def axes_of(edges: Any, categories: Any, axes: Iterable[Axis] | None) -> tuple[Axis, ...]:
    """The axes of a histogram, given in one of three ways."""
    given = [
        name
        for name, value in (("edges", edges), ("categories", categories), ("axes", axes))
        if value is not None
    ]
    if len(given) != 1:
        raise Refused(
            "histogram.axes",
            f"Histogram({', '.join(given)})",
            "give exactly one of edges, categories, axes",
            "edges=range(0, 101, 10)",
        )
    if categories is not None:
        found: tuple[Axis, ...] = (Labels(categories),)
    elif axes is not None:
        found = tuple(axes)
    else:
        written: list[Any] = [
            list(part) if isinstance(part, Iterable) and not isinstance(part, str) else part
            for part in edges
        ]
        several = any(isinstance(part, list) for part in written)
        found = tuple(Edges(part) for part in written) if several else (Edges(written),)
    if not found or not all(isinstance(axis, Edges | Labels) for axis in found):
        raise Refused(
            "histogram.axes",
            "axes",
            "an axis is Edges or Labels",
            "axes=[Edges(range(0, 101, 10)), Labels(['yes', 'no'])]",
        )
    if math.prod(len(axis) for axis in found) > MOST:
        raise Refused(
            "histogram.axes",
            "axes",
            "there are more than 2^24 cells, nearly all of them empty",
            "coarser bins, or fewer columns",
        )
    return found
