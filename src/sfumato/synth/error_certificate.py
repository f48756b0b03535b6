"""The certificate of a synthetic table: its error in each column and each pair of columns.

*Error*     the total variation between the shares of cells in the data and in the synthetic table:
            the part of the rows that would have to be in another cell.
*Measured*  D = Σ|count − synthetic count| with noise of its own, after the table was finished. It
            moves by at most what a unit weighs, whatever the number of cells.
*Interval*  (D ± h)/(2·N) with h from the exact law of the noise, N the noisy number of rows; wider
            by |n − N|/(2·N) for the true number n, which the law of the noise in N bounds.
*Proof*     docs/proofs/synthetic.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, probability
from ..noise.rounded_normal import RoundedNormal
from ..tables.plan.row_codes import Columnwise
from ..templates.summary import Summarized, Summary
from . import synth_refusals as refusals

if TYPE_CHECKING:
    import pyarrow as pa

Doubles = NDArray[np.float64]

_OF_TOTAL = Fraction(1, 10)  # of the risk, for the noisy number of rows
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class CertifiedError:
    """The measured error of a column or a pair, and an interval that holds the true one."""

    columns: tuple[str, ...]
    error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Summarized):
    """The errors of all columns and pairs of a synthetic table."""

    names: tuple[str, ...]
    tables: tuple[Columnwise, ...]
    sizes: tuple[int, ...]
    distances: Doubles  # noisy, in rows
    rounded: Sequence[float]  # how far the measured goal was from the synthetic counts, in rows
    total: float
    unit: float  # a step of the integers, in rows
    law: RoundedNormal
    total_noise: tuple[RoundedNormal, Doubles]  # the law of a cell, and the weight of each cell

    def errors(self, *, confidence: Number = 0.95) -> list[CertifiedError]:
        """Return the error of every column and every pair. Each interval holds with this
        probability by itself.

        >>> synthetic.certificate().errors()[0]
        CertifiedError(...)
        """
        half = self._half_widths(confidence)
        values = self.distances / (2 * self.total)
        return [
            CertifiedError(
                tuple(self.names[i] for i in table),
                min(max(value, 0.0), 1.0),
                min(max(value - width, 0.0), 1.0),
                min(max(value + width, 0.0), 1.0),
            )
            for table, value, width in zip(self.tables, values.tolist(), half.tolist(), strict=True)
        ]

    def of(self, *columns: str, confidence: Number = 0.95) -> CertifiedError:
        """Return the error of one column, or of a pair."""
        places = tuple(sorted(self.names.index(name) for name in columns if name in self.names))
        if len(places) < len(columns) or places not in self.tables:
            raise refusals.PAIR_UNKNOWN(
                columns=", ".join(map(str, columns)),
                names=", ".join(self.names),
                first=self.names[0],
            )
        return self.errors(confidence=confidence)[self.tables.index(places)]

    @cached_property
    def mean(self) -> float:
        """The mean error of all pairs; of the column, if there is only one."""
        values = self.errors()
        pairs = [each.error for each in values if len(each.columns) == 2]
        return float(np.mean(pairs or [each.error for each in values]))

    def _half_widths(self, confidence: Number) -> Doubles:
        missing = 1 - probability(confidence, "confidence", zero=False)
        score = self.law.half_width(1 - missing * (1 - _OF_TOTAL)) * self.unit
        law, weights = self.total_noise
        count = law.linear_error(weights, missing * _OF_TOTAL) * self.unit
        widths: Doubles = (score + np.array(self.rounded) + count) / (2 * self.total)
        return np.nextafter(widths * (1 + 1e-9), np.inf)

    def matrix(self) -> Doubles:
        """Return the errors as a square: pairs off the diagonal, columns on it."""
        square = np.zeros((len(self.names), len(self.names)))
        for table, each in zip(self.tables, self.errors(), strict=True):
            first, last = table[0], table[-1]
            square[first, last] = square[last, first] = each.error
        return square

    def to_arrow(self, *, confidence: Number = 0.95) -> pa.Table:
        """Return a table: first, second (null for a column), error, low, high."""
        import pyarrow as pa

        values = self.errors(confidence=confidence)
        return pa.table(
            {
                "first": pa.array([each.columns[0] for each in values], pa.string()),
                "second": pa.array(
                    [each.columns[1] if len(each.columns) > 1 else None for each in values],
                    pa.string(),
                ),
                "error": [each.error for each in values],
                "low": [each.low for each in values],
                "high": [each.high for each in values],
            }
        )

    def _summary(self) -> Summary:
        values = sorted(self.errors(), key=lambda each: -each.error)
        shown = [
            (" × ".join(each.columns), f"{each.error:.4f}", f"{each.low:.4f} … {each.high:.4f}")
            for each in values[:_SHOWN]
        ]
        return Summary(
            title=f"certificate · mean error of pairs {self.mean:.4f}",
            heads=("columns", "error", "with probability 0.95"),
            rows=shown,
            numbers=frozenset([1, 2]),
            hidden=len(values) - len(shown),
            notes=["error: the part of the rows that would have to be in another cell"],
        )
