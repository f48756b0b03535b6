"""Errors of a census where the exact counts are known: by level and by size of place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZES = (0, 1, 10, 100, 1_000, 10_000, 100_000)
"""The least populations of the classes of places."""


class ErrorRow(NamedTuple):
    """The errors of the numbers of some places: those of a level, with a population in a class."""

    level: str
    population: str
    places: int
    mean_absolute: float  # of the whole numbers
    mean_absolute_estimate: float  # of the linear estimates
    root_mean_square: float  # of the whole numbers
    bias: float  # mean of count − exact


def errors_by_size(
    level: str,
    exact: NDArray[np.int64],
    counts: NDArray[np.int64],
    estimates: NDArray[np.float64],
    populations: NDArray[np.int64],
    sizes: Sequence[int] = SIZES,
) -> Iterator[ErrorRow]:
    """Yield the errors of all places of a level, then those of each class of population."""
    truth = exact.astype(np.float64)
    error, linear = counts - truth, estimates - truth
    classes = [("all", np.ones(len(truth), dtype=bool))]
    for low, high in zip(sizes, [*sizes[1:], None], strict=True):
        inside = (populations >= low) & (True if high is None else populations < high)
        classes.append((_class_name(low, high), inside))
    for name, inside in classes:
        if inside.any():
            yield ErrorRow(
                level,
                name,
                int(inside.sum()),
                float(np.abs(error[inside]).mean()),
                float(np.abs(linear[inside]).mean()),
                float(np.sqrt((error[inside] ** 2).mean())),
                float(error[inside].mean()),
            )


def _class_name(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}"
