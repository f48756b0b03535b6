"""Merge cells that too few rows have, by noisy counts alone: numbers with their neighbours, rare
keys with each other.

A bin has three deviations of the noise, and one row in 200. What decides is public, so merging is
post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tables.plan.codes.column_codes import RowCode

_DEVIATIONS, _SHARE = 3.0, 0.005


@dataclass(frozen=True, slots=True, eq=False)
class MergedCells:
    """The bins of a feature: the bin of each code, and the noisy count of each bin."""

    bins: NDArray[np.int64]
    counts: NDArray[np.float64]

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.counts)


def merge_cells(code: RowCode, counts: NDArray[np.float64], deviation: float) -> MergedCells:
    """Merge the codes of a feature with these noisy counts."""
    least = max(_DEVIATIONS * deviation, _SHARE * max(float(counts.sum()), 0.0))
    bins = (
        _merge_rare(counts, least)
        if code.starts is None
        else _merge_neighbours(counts[:-1], float(counts[-1]), least)
    )
    sums = np.bincount(bins, counts, minlength=int(bins.max()) + 1)
    return MergedCells(bins, np.maximum(sums, deviation))


def _merge_rare(counts: NDArray[np.float64], least: float) -> NDArray[np.int64]:
    """Give each frequent key a bin, and all others one together."""
    frequent = counts > least
    bins = np.full(len(counts), int(frequent.sum()), dtype=np.int64)
    bins[frequent] = np.arange(int(frequent.sum()))
    return bins


def _merge_neighbours(
    counts: NDArray[np.float64], missing: float, least: float
) -> NDArray[np.int64]:
    """Give runs of cells a bin each; missing values have their own, or that of the largest run."""
    bins = np.zeros(len(counts) + 1, dtype=np.int64)
    bin_, total = 0, 0.0
    for cell, count in enumerate(counts):
        bins[cell] = bin_
        total += float(count)
        if total > least and cell < len(counts) - 1:
            bin_, total = bin_ + 1, 0.0
    if bin_ and total <= least / 2:
        bins[bins == bin_] = bin_ - 1
        bin_ -= 1
    sums = np.bincount(bins[:-1], counts, minlength=bin_ + 1)
    bins[-1] = bin_ + 1 if missing > least else int(np.argmax(sums))
    return bins
