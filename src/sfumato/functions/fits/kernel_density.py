"""Kernel density (Rosenblatt 1956, Parzen 1962): f(t) = (1/(N·h^d))·Σ K((t − x_i)/h), K the normal
density in d dimensions.

*Divisor*      N is the public number `records=`, a constant: so both relations have a sensitivity.
               Without it, the number of rows, and then there is none.
*Sensitivity*  add-remove: one record's profile on the lattice. Replace: the difference of two; as
               profiles are not negative, the largest value moves by no more than one of them,
               squares by twice, and sums by twice.
*Exactly*      every K is rounded to a multiple of 2⁻³⁰ and added as an integer: the sum has no
               error, in any order.
*Proof*        docs/proofs/bernstein.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ...exact.balls import ball, evaluate, sqrt_up
from ...exact.numbers import positive
from ...records import record
from ...sensitivity.kinds import Global
from ..lattice import Lattice
from ..polynomial import Floats
from . import kernel_profiles
from .fit_records import (
    UNIT,
    Ends,
    box_of,
    check_dimensions,
    check_record_count,
    check_table,
    clip,
    require_records,
    rows,
)

_ONE = 1 << 30
_TIMES = 1 << 10  # records beyond this multiple of the declared number do not raise the density
_CELLS = 1 << 20


@record(repr=True)
class KernelDensity:
    """Data: records x, or rows of d coordinates; clipped to `inputs=`, an interval or one for each
    coordinate.
    """

    bandwidth: Fraction = field(default=Fraction(1, 10), converter=positive)
    inputs: tuple[Ends, ...] = field(default=(UNIT,), converter=box_of, kw_only=True)
    records: int | None = field(default=None, converter=check_record_count, kw_only=True)

    @property
    def box(self) -> tuple[Ends, ...]:
        return self.inputs

    def accepts(self, data: object) -> None:
        """Refuse data that are no table for this fit, by type and public shape."""
        check_table(data, len(self.inputs))

    def __call__(self, data: object) -> Callable[[ArrayLike], Floats]:
        records = rows(data, len(self.inputs))
        x = np.stack(
            [clip(column, ends) for column, ends in zip(records.T, self.inputs, strict=True)],
            axis=1,
        )
        divisor = (self.records or max(1, len(x))) * (
            float(self.bandwidth) * math.sqrt(2 * math.pi)
        ) ** len(self.inputs)
        # within int64, and no sum reaches it
        most = min(_TIMES * _ONE * (self.records or max(1, len(x))), 1 << 62)

        def density(points: ArrayLike) -> Floats:
            places = np.asarray(points, dtype=np.float64).reshape(-1, len(self.inputs))
            total = np.minimum(_sums(places, x, float(self.bandwidth)), most)
            return total.astype(np.float64) / _ONE / divisor

        return density

    def sensitivity(self, lattice: Lattice, relation: str | None = "replace") -> Global:
        """Bound how far a neighbour moves the values on the lattice."""
        records = require_records(self.records, "KernelDensity")
        check_dimensions(lattice, self.inputs)
        peak = Fraction(
            evaluate(
                lambda: (1 / ((2 * arb.pi()).sqrt() * ball(self.bandwidth))) ** len(self.inputs),
                "up",
            )
        )
        l1, square = Fraction(1), Fraction(1)
        for number, (low, high) in enumerate(self.inputs):
            l1 *= kernel_profiles.heaviest(lattice.axis(number), self.bandwidth, low, high)
            square *= kernel_profiles.heaviest(lattice.axis(number), self.bandwidth, low, high, 2)
        twice = 2 if relation in (None, "replace") else 1
        each = peak / records
        # of the changed terms, and of the divisions
        rounding = each * Fraction(twice, _ONE) + peak * Fraction(_TIMES, 2**50)
        size = lattice.size
        return Global(
            l1=twice * each * l1 + size * rounding,
            l2=sqrt_up(twice * each * each * square) + sqrt_up(Fraction(size)) * rounding,
            sup=each + rounding,
            relation=relation or "replace",
            formula="a record's kernel on the lattice, over the public number of records",
        )


def _sums(points: Floats, x: Floats, width: float) -> NDArray[np.int64]:
    """Return Σ ⌊K·2^30 + ½⌋ as integers."""
    sums = np.zeros(len(points), dtype=np.int64)
    scale = math.sqrt(0.5) / width
    across = max(1, _CELLS // max(1, len(x)))
    for start in range(0, len(points), across):
        part = points[start : start + across]
        for begin in range(0, len(x), _CELLS):
            some = x[begin : begin + _CELLS]
            cells = np.zeros((len(part), len(some)))
            for axis in range(x.shape[1]):
                gap = (part[:, axis, None] - some[None, :, axis]) * scale
                gap *= gap
                cells -= gap
            np.exp(cells, out=cells)
            cells *= _ONE
            np.rint(cells, out=cells)
            sums[start : start + across] += cells.sum(axis=1).astype(np.int64)  # below 2^50: exact
    return sums
