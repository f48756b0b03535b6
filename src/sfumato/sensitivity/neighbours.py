"""Random pairs of neighbours from an oracle that draws records: as lists, arrays, dictionaries of
columns, pandas or Polars frames.

*Together*   one call, oracle(n + 1): the two datasets share n − 1 records and each has one of the
             last two. Under add-remove one call, oracle(n): with and without its last record.
*Apart*      three calls, oracle(n − 1), oracle(1), oracle(1), as diffpriv does. The same law where
             records are independent; not where the oracle tosses coins once per call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import sensitivity_refusals as refusals

Dataset = Any
"""A list, an array, a dictionary of columns, or a frame of pandas or Polars."""

Oracle = Callable[[int], Dataset]


def pair(oracle: Oracle, n: int, relation: str, *, apart: bool = False) -> tuple[Dataset, Dataset]:
    """Draw two neighbouring datasets."""
    if apart:
        parts = _draw(oracle, n - 1), _draw(oracle, 1), _draw(oracle, 1)
        common = parts[0]
        return (
            (concatenate(common, parts[1]), concatenate(common, parts[2]))
            if relation == "replace"
            else (concatenate(common, parts[1]), common)
        )
    if relation != "replace":
        rows = _draw(oracle, n)
        return rows, take_rows(rows, np.arange(n - 1))
    rows = _draw(oracle, n + 1)
    first, second = np.arange(n), np.arange(n)
    second[-1] = n
    return take_rows(rows, first), take_rows(rows, second)


def count(records: Dataset) -> int:
    """Count the records of a dataset."""
    return len(next(iter(records.values()))) if isinstance(records, Mapping) else len(records)


def take_rows(records: Dataset, rows: NDArray[np.int64]) -> Dataset:
    """Return the records at these positions, as the same kind of dataset."""
    if isinstance(records, Mapping):
        return {name: take_rows(column, rows) for name, column in records.items()}
    if hasattr(records, "iloc"):
        return records.iloc[rows]
    if isinstance(records, np.ndarray):
        return records[rows]
    if isinstance(records, str) or not isinstance(records, Sequence):
        return records[rows.tolist()]  # Polars
    return (
        type(records)(records[i] for i in rows.tolist())
        if isinstance(records, tuple)
        else [records[i] for i in rows.tolist()]
    )


def concatenate(a: Dataset, b: Dataset) -> Dataset:
    """Join the records of two datasets, as the same kind of dataset."""
    if isinstance(a, Mapping):
        return {name: concatenate(a[name], b[name]) for name in a}
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    if hasattr(a, "iloc"):
        import pandas

        return pandas.concat([a, b])
    if type(a).__module__.startswith("polars"):
        import polars

        return polars.concat([a, b])
    return a + b


def _draw(oracle: Oracle, n: int) -> Dataset:
    records = oracle(n)
    try:
        length = count(records)
    except TypeError:
        length = -1
    if length != n:
        raise refusals.ORACLE_OF_OTHER_SIZE(n=n)
    return records
