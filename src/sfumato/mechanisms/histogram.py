"""The histogram of one or several columns over public cells.

*Law*        The count of each cell, with independent noise of `Laplace` (or, where a δ is allowed
             and its exact variance is smaller, `Gaussian`).
*Promise*    A person is in one cell. Add-remove: one count moves by 1, L1 = L2 = 1. Replace: two
             counts move by 1, L1 = 2, L2 = √2, and so the same noise promises twice as much. The
             number of cells and of columns does not matter.
*Error*      P(max over k cells > r) = 1 − P(|Z| ≤ r)^k from the exact law; at most s·ln(k/β)/ε, s =
             1 or 2.
*Steps*      Bins are half-open, the last one closed. A number outside the public range counts in
             the first or last bin ("clip") or not at all ("drop"); NaN, None and unknown categories
             count nowhere. All of this is decided row by row, so it changes no sensitivity.
*Proof*      docs/proofs/histogram.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees import Guarantee, Relation
from ..guarantees.guarantee import unit_of
from ..noise.bits import SYSTEM, Bits
from .gaussian import Gaussian
from .laplace import Laplace
from .shared import mechanism_refusals as refusals
from .shared.additive import check_exactly_one
from .shared.bins import OUTSIDE, Axis, Edges, Outside, axes_of
from .shared.counting import laplace_or_gaussian
from .shared.error_formulas import for_each
from .shared.histogram_result import PrivateHistogram
from .shared.mechanism import Mechanism, needed_relation


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Histogram(Mechanism):
    """Counts over public cells, at a promise of ε or (ε, δ), or within an error that holds for all
    cells at once.
    """

    axes: tuple[Axis, ...]
    noise: Laplace | Gaussian
    outside: Outside
    relation: Relation
    unit: str | None

    def __init__(
        self,
        *,
        edges: Any = None,
        categories: Any = None,
        axes: Iterable[Axis] | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
        outside: Outside = "clip",
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        check_exactly_one(
            "Histogram",
            "Histogram(edges=range(0, 101, 10), epsilon=1, relation='replace')",
            epsilon=epsilon,
            error=error,
        )
        put = object.__setattr__
        put(self, "axes", axes_of(edges, categories, axes))
        put(
            self,
            "relation",
            needed_relation(
                relation,
                "Histogram(…)",
                "one person moves one count under add-remove, two under replace",
            ),
        )
        put(self, "unit", unit_of(unit))
        if outside not in OUTSIDE:
            raise refusals.HISTOGRAM_OUTSIDE_1(outside=outside)
        put(self, "outside", outside)
        moved = Fraction(moves(self.relation))
        if epsilon is not None:
            put(
                self,
                "noise",
                laplace_or_gaussian(
                    l1=moved,
                    l2_squared=moved,
                    epsilon=epsilon,
                    delta=delta,
                    relation=relation,
                    unit=unit,
                ),
            )
        else:
            assert error is not None  # exactly one of them is
            if delta is not None:
                raise refusals.MECHANISM_CALIBRATION_5()
            each = for_each(confidence, self.size)
            put(
                self,
                "noise",
                Laplace(
                    sensitivity=moved, error=error, confidence=each, relation=relation, unit=unit
                ),
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each axis has."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return self.noise.promises

    def perturb(self, data: Any, *, bits: Bits = SYSTEM) -> PrivateHistogram:
        """Count and add noise: for one column, a two-dimensional array of rows, or a list of
        columns.
        """
        return PrivateHistogram(self, self.noise.perturb(self.tally(data), bits=bits))

    def error(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> int | float:
        """A bound on the noise of one cell, or of all cells at once, that holds with this
        probability.
        """
        return self.noise.error(confidence, values=self.size if simultaneous else 1)

    def tally(self, data: Any) -> NDArray[np.int64]:
        """The exact counts. Secret: this is data, not an answer."""
        columns = (
            [data]
            if len(self.axes) == 1
            else list(data.T)
            if isinstance(data, np.ndarray) and data.ndim == 2
            else list(data)
        )
        if len(columns) != len(self.axes):
            raise refusals.HISTOGRAM_COLUMNS_1(
                columns_count=len(columns), axes_count=len(self.axes)
            )
        places = [
            axis.codes(c, self.outside) if isinstance(axis, Edges) else axis.codes(c, drop=True)
            for axis, c in zip(self.axes, columns, strict=True)
        ]
        if len({len(p) for p in places}) != 1:
            raise refusals.HISTOGRAM_COLUMNS_2()
        counted = np.all([p >= 0 for p in places], axis=0)
        cells = np.ravel_multi_index([p[counted] for p in places], self.shape)
        return np.bincount(cells, minlength=self.size).astype(np.int64).reshape(self.shape)


def moves(relation: Relation) -> int:
    """The number of counts that one person moves by 1."""
    return 1 if relation == "add-remove" else 2
