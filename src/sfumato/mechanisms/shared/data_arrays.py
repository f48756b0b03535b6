"""Columns of data as arrays, by rules that never depend on what the other rows hold.

Numbers become doubles: integers and truth values as they are, None as NaN. What is no number is
refused (`value.type`), which says something about the data: convert first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused


def numbers(values: Any) -> NDArray[np.float64]:
    """A flat array of doubles, NaN where there is no number."""
    try:
        found = np.asarray(values if isinstance(values, np.ndarray) else list(values))
        if found.dtype.kind == "O":
            found = np.array(
                [np.nan if v is None else _number(v) for v in found.ravel()], dtype=np.float64
            ).reshape(found.shape)
        if found.dtype.kind not in "biuf" or found.ndim != 1:
            raise TypeError
        with np.errstate(over="ignore"):
            return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise Refused(
            "value.type",
            "perturb(data)",
            "a column of numbers is needed",
            "a list or an array of numbers, in one dimension",
        ) from None


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError
    return float(value)
