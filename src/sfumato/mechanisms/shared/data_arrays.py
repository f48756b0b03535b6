"""Convert columns of data to arrays, row by row: no row's value depends on other rows.

Numbers become doubles: integers and truth values as they are, None as NaN. A value that is no
number is refused (`value.type`); the refusal reveals something about the data, so convert first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from . import mechanism_refusals as refusals


def numbers(values: Iterable[object]) -> NDArray[np.float64]:
    """Return a flat array of doubles, NaN where there is no number."""
    try:
        column = np.asarray(values if isinstance(values, np.ndarray) else list(values))
        if column.dtype.kind == "O":
            column = np.array(
                [np.nan if v is None else _number(v) for v in column.ravel()], dtype=np.float64
            ).reshape(column.shape)
        if column.dtype.kind not in "biuf" or column.ndim != 1:
            raise TypeError
        with np.errstate(over="ignore"):
            return column.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise refusals.NOT_A_COLUMN() from None


def _number(value: SupportsFloat | str | bytes) -> float:
    if isinstance(value, str | bytes):
        raise TypeError
    return float(value)
