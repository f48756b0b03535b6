"""Columns that hold dates: quantiles of dates are computed and stored as days since 1970."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .answer_records import Column

Doubles = NDArray[np.float64]
Dates = NDArray[np.datetime64]


def holds_dates(column: Column) -> bool:
    """Tell whether the numbers of a column are days since 1970."""
    return "days" in column.numbers


def as_dates(numbers: Doubles, rounding: Callable[[Doubles], Doubles] = np.rint) -> Dates:
    """Return days since 1970 as dates; what is no number becomes NaT."""
    is_number = np.isfinite(numbers)
    days = rounding(np.where(is_number, numbers, 0.0)).astype("datetime64[D]")
    dates: Dates = np.where(is_number, days, np.datetime64("NaT", "D"))
    return dates


def date_texts(numbers: Doubles, rounding: Callable[[Doubles], Doubles] = np.rint) -> list[str]:
    """Return days since 1970 as texts: 2026-01-31; null for what is no number."""
    texts = np.datetime_as_string(as_dates(numbers, rounding))
    return ["null" if text == "NaT" else str(text) for text in texts.tolist()]
