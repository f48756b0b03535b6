"""Kernel regression by spacings (Priestley & Chao 1972): m(t) = (1/h)·Σ_{i ≥ 2} (x_(i) −
x_(i−1))·K((t − x_(i))/h)·y_(i), records sorted by (x, y).

*Ties*         among records with equal x the one with the least y owns the gap. So the curve
               depends on the multiset of records and not on their order, which add-remove requires:
               two orders of one dataset are the same dataset.
*Kernel*       K(u) = e^(−u²/2)/√(2π). Without the root, as the sources' code has it
               (`normalised=False`), the curve is √(2π) = 2.5066 times too high.
*Sensitivity*  for x in an interval of width w and |y| ≤ B, all known without looking at data:
               a record owns the gap before it, so the weights of all records come to w at most; a
               neighbour moves m by up to 2·B·w·K(0)/h, however many records there are. `spacing=s`
               counts every gap for s at most: then a record's change moves two terms by s each,
               4·B·s·K(0)/h under replace.
*Exactly*      with `values=` every term is rounded to a multiple of a public power of two, so that
               the terms add up without error in any order.
*Proof*        docs/proofs/bernstein.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import field
from attrs.converters import optional
from flint import arb
from numpy.typing import ArrayLike

from ...exact.balls import evaluate, sqrt_up
from ...exact.numbers import Number, positive, power_of_two_at_least
from ...records import record
from ...sensitivity.kinds import Global
from .. import function_refusals as refusals
from ..lattice import Lattice
from ..polynomial import Floats
from . import kernel_profiles
from .fit_records import UNIT, Ends, box_of, check_dimensions, check_ends, check_table, clip, rows

ROOT_TWO_PI = math.sqrt(2 * math.pi)
_CELLS = 1 << 20


def _check_spacing(spacing: Number | None) -> Fraction | None:
    return None if spacing is None else positive(spacing, "spacing")


@record(repr=True)
class PriestleyChao:
    """Data: records (x, y). With `values=`, the interval of y, x and y are clipped and the
    sensitivity is known.
    """

    bandwidth: Fraction = field(default=Fraction(1, 10), converter=positive)
    normalised: bool = field(default=True, kw_only=True)
    inputs: Ends = field(default=UNIT, converter=check_ends, kw_only=True)
    values: Ends | None = field(default=None, converter=optional(check_ends), kw_only=True)
    spacing: Fraction | None = field(default=None, converter=_check_spacing, kw_only=True)

    @property
    def box(self) -> tuple[Ends, ...]:
        return box_of(self.inputs)

    def accepts(self, data: object) -> None:
        """Refuse data that are no table for this fit, by type and public shape."""
        check_table(data, 2)

    def __call__(self, data: object) -> Callable[[ArrayLike], Floats]:
        records = rows(data, 2)
        x, y = (
            (records[:, 0], records[:, 1])
            if self.values is None
            else (clip(records[:, 0], self.inputs), clip(records[:, 1], self.values))
        )
        # by x, then by y: under add-remove the rows have no order that a tie could follow
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
        gaps = np.diff(x)
        if self.spacing is not None:
            gaps = np.minimum(gaps, float(self.spacing))
        heights = gaps * y[1:]
        step = None if self.values is None else self._step()
        divisor = float(self.bandwidth) * (ROOT_TWO_PI if self.normalised else 1.0)
        return lambda points: (
            _sums(np.asarray(points, dtype=np.float64), x[1:], heights, float(self.bandwidth), step)
            / divisor
        )

    def sensitivity(self, lattice: Lattice, relation: str | None = "replace") -> Global:
        """Bound how far a neighbour moves the values on the lattice."""
        if self.values is None:
            raise refusals.VALUES_WITHOUT_BOUNDS()
        check_dimensions(lattice, self.box)
        low, high = self.inputs
        axis, per = lattice.axis(), self._highest() / self.bandwidth
        l1 = 2 * per * kernel_profiles.heaviest_beyond(axis, self.bandwidth, low, high)
        root = 2 * per * kernel_profiles.heaviest_beyond(axis, self.bandwidth, low, high, 2)
        sup = 2 * per * (high - low)
        if self.spacing is not None:
            terms = 4 if relation in (None, "replace") else 2
            most = terms * per * self.spacing
            l1 = min(l1, most * kernel_profiles.heaviest(axis, self.bandwidth, low, high))
            root = min(
                root, most * sqrt_up(kernel_profiles.heaviest(axis, self.bandwidth, low, high, 2))
            )
            sup = min(sup, most)
        # of six terms, each rounded once and computed to 2^-48 of the largest, and of the division
        error = per * (high - low) * Fraction(1, 2**44)
        size = lattice.size
        formula = "sums of gaps times values; a record changes two of them"
        return Global(
            l1=l1 + size * error,
            l2=root + sqrt_up(Fraction(size)) * error,
            sup=sup + error,
            relation=relation or "replace",
            formula=formula,
        )

    def _highest(self) -> Fraction:
        """Return B·K(0), rounded up."""
        assert self.values is not None
        most = max(abs(self.values[0]), abs(self.values[1]))
        return most * (
            Fraction(evaluate(lambda: 1 / (2 * arb.pi()).sqrt(), "up")) if self.normalised else 1
        )

    def _step(self) -> float:
        """Return a step so fine that all terms together stay below 2^51 steps: sums are exact."""
        assert self.values is not None
        total = max(abs(self.values[0]), abs(self.values[1])) * (self.inputs[1] - self.inputs[0])
        return float(power_of_two_at_least(total) * Fraction(1, 2**50))


def _sums(points: Floats, x: Floats, heights: Floats, width: float, step: float | None) -> Floats:
    """Return Σ heights·K((t − x)/h), piece by piece."""
    flat = points.reshape(-1)
    sums = np.zeros(flat.size)
    scale = math.sqrt(0.5) / width
    across = max(1, _CELLS // max(1, x.size))
    for start in range(0, flat.size, across):
        part = flat[start : start + across, None]
        for begin in range(0, x.size, _CELLS):
            cells = part - x[None, begin : begin + _CELLS]
            cells *= scale
            cells *= cells
            np.negative(cells, out=cells)
            np.exp(cells, out=cells)
            cells *= heights[begin : begin + _CELLS]
            if step is not None:
                cells /= step
                np.rint(cells, out=cells)
            sums[start : start + across] += cells.sum(axis=1)
    return (sums if step is None else sums * step).reshape(points.shape)
