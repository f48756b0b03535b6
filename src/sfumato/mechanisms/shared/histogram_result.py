"""A released histogram. All methods post-process its noisy counts and cost nothing.

*Steps*   `nonnegative` and `summing_to` make the counts fit for use; `moment` estimates E[x^p] with
          an interval; `synthetic` draws a dataset, once and for all.
*Error*   Of every cell, from the exact law of the noise; that of moments in `noise_moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, is_whole, width_text
from ...guarantees import Guarantee
from ...noise.bits import SYSTEM, Bits
from ...noise.uniform import integers_below
from ...templates.summary import MOST_ROWS, Summarized, Summary
from . import mechanism_refusals as refusals
from .bins import Axis, Edges
from .noise_moments import MomentEstimate, moment
from .project_simplex import apportion

if TYPE_CHECKING:
    from ..histogram import Histogram

Column = NDArray[np.generic]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateHistogram(Summarized):
    """Noisy whole counts over public cells; they may be negative unless post-processed."""

    mechanism: Histogram
    counts: NDArray[np.int64]
    processed: bool = False

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.mechanism.axes

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of a histogram of one column of numbers."""
        (axis, *others) = self.axes
        if others or not isinstance(axis, Edges):
            raise refusals.EDGES_OF_OTHER_AXES()
        return axis.ends

    @property
    def promise(self) -> Guarantee:
        return self.mechanism.promise

    @property
    def total(self) -> int:
        """The sum of the noisy counts: an unbiased estimate of the number of rows that were
        counted.
        """
        return sum(int(c) for c in self.counts.ravel())

    def error(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> int | float:
        """A bound on the noise of one cell, or of all cells at once, that holds with this
        probability; for the counts as released.
        """
        return self.mechanism.error(confidence, simultaneous=simultaneous)

    def _summary(self) -> Summary:
        about = "post-processed" if self.processed else f"each {width_text(self.error())} at 95 %"
        first = self.counts.ravel()[:MOST_ROWS].tolist()
        places = np.stack(np.unravel_index(np.arange(len(first)), self.counts.shape), axis=1)
        rows = [
            (*(axis.cell_name(i) for axis, i in zip(self.axes, cell, strict=True)), str(count))
            for cell, count in zip(places.tolist(), first, strict=True)
        ]
        names = ["cell"] if len(self.axes) == 1 else [f"axis {i}" for i in range(len(self.axes))]
        return Summary(
            title=f"private histogram · {self.counts.size} cells · {about} · "
            f"{self.promise.numbers_text}",
            heads=(*names, "count"),
            rows=rows,
            hidden=self.counts.size - len(rows),
            numbers=frozenset([len(self.axes)]),
        )

    def nonnegative(self) -> PrivateHistogram:
        """Set counts below 0 to 0: each comes nearer to the truth, and their sum becomes too
        large.
        """
        return PrivateHistogram(self.mechanism, np.maximum(self.counts, 0), processed=True)

    def summing_to(self, rows: int | None = None) -> PrivateHistogram:
        """Return the nearest whole non-negative counts with this sum: the public number of rows, or
        else the noisy one.
        """
        target = max(self.total, 0) if rows is None else rows
        if not is_whole(target, 0, 2**62 - 1):
            raise refusals.ROWS_BELOW_ZERO(rows=rows, most="2^62 − 1")
        return PrivateHistogram(self.mechanism, apportion(self.counts, target), processed=True)

    def moment(self, power: int | Sequence[int] = 1, *, rows: int | None = None) -> MomentEstimate:
        """E[x^power] of the counted values, or E[Πx_i^power_i] of several columns; divided by the
        public number of counted rows or by the noisy one.
        """
        if self.processed:
            raise refusals.MOMENT_OF_PROCESSED_COUNTS()
        powers = (power,) if isinstance(power, int) else tuple(power)
        return moment(self.mechanism, self.counts, powers, rows)

    def synthetic(self, rows: int | None = None, *, bits: Bits = SYSTEM) -> Column | list[Column]:
        """Draw rows independently from the histogram, uniform inside a bin: an array, or a list of
        columns. They may be published and used without limit.
        """
        target = max(self.total, 0) if rows is None else rows
        if not is_whole(target, 0, 2**40):
            raise refusals.ROWS_BELOW_ZERO(rows=rows, most="2^40")
        weights = np.maximum(self.counts.ravel(), 0)
        weights = weights if weights.any() else np.ones_like(weights)
        cells = (
            np.cumsum(weights.astype(np.float64))
            if weights.sum(dtype=np.float64) >= 2.0**62
            else np.cumsum(weights)
        )
        chosen = cells.searchsorted(integers_below(int(cells[-1]), target, bits), side="right")
        places = np.unravel_index(chosen, self.counts.shape)
        columns: list[Column] = [
            _inside(axis, place, bits) if isinstance(axis, Edges) else axis.array[place]
            for axis, place in zip(self.axes, places, strict=True)
        ]
        return columns[0] if len(columns) == 1 else columns


def _inside(axis: Edges, place: NDArray[np.intp], bits: Bits) -> NDArray[np.float64]:
    low, high = np.array(axis.ends[:-1])[place], np.array(axis.ends[1:])[place]
    u = (bits.words(len(place)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    point: NDArray[np.float64] = np.clip(low + u * (high - low), low, np.nextafter(high, low))
    return point
