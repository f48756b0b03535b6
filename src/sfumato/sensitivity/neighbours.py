"""Random pairs of neighbours from an oracle that draws records: of lists, arrays, dictionaries of
columns, pandas and Polars.

*Together*   one call, oracle(n + 1): the two datasets share n − 1 records and each has one of the
             last two. Under add-remove one call, oracle(n): with and without its last record.
*Apart*      three calls, oracle(n − 1), oracle(1), oracle(1), as diffpriv does. The same law where
             records are independent; not where the oracle tosses coins once per call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import Refused

Oracle = Callable[[int], Any]


def pair(oracle: Oracle, n: int, relation: str, *, apart: bool = False) -> tuple[Any, Any]:
    """Two neighbouring datasets."""
    if apart:
        parts = _drawn(oracle, n - 1), _drawn(oracle, 1), _drawn(oracle, 1)
        common = parts[0]
        return (
            (joined(common, parts[1]), joined(common, parts[2]))
            if relation == "replace"
            else (joined(common, parts[1]), common)
        )
    if relation != "replace":
        rows = _drawn(oracle, n)
        return rows, taken(rows, np.arange(n - 1))
    rows = _drawn(oracle, n + 1)
    first, second = np.arange(n), np.arange(n)
    second[-1] = n
    return taken(rows, first), taken(rows, second)


def count(records: Any) -> int:
    """How many records a dataset has."""
    return len(next(iter(records.values()))) if isinstance(records, Mapping) else len(records)


def taken(records: Any, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """The records at these places, as the same kind of dataset."""
    if isinstance(records, Mapping):
        return {name: taken(column, rows) for name, column in records.items()}
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


def joined(a: Any, b: Any) -> Any:
    """The records of both, as the same kind of dataset."""
    if isinstance(a, Mapping):
        return {name: joined(a[name], b[name]) for name in a}
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    if hasattr(a, "iloc"):
        import pandas

        return pandas.concat([a, b])
    if type(a).__module__.startswith("polars"):
        import polars

        return polars.concat([a, b])
    return a + b


def _drawn(oracle: Oracle, n: int) -> Any:
    records = oracle(n)
    try:
        found = count(records)
    except TypeError:
        found = -1
    if found != n:
        raise Refused(
            "sensitivity.oracle",
            f"oracle({n})",
            "an oracle draws so many records as it is asked for: a list, an array or a frame",
            "oracle(n) of n rows",
        )
    return records
