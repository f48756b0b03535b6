"""The records of a fit as columns of doubles, each value clipped to a public interval, so that
every dataset has a fit.

A record is a row: of an array, a list of tuples, a pandas or Polars frame. NaN counts as the lower
end of its interval.

*One by one*  every record becomes one row, by a rule that looks at this record alone: its first
              cells, as many as the fit has columns. A cell that is no number is NaN; a record with
              fewer cells, or that is no row at all, is NaN throughout. So a strange record changes
              one row, and never the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import function_refusals as refusals
from ..lattice import Lattice, check_bounds
from ..polynomial import Floats
from ..record_loop import describe_shape

Ends = tuple[Fraction, Fraction]
UNIT: Ends = (Fraction(0), Fraction(1))


def rows(data: object, columns: int) -> Floats:
    """Read the records, one row each, with this many columns. No data make this function raise."""
    try:
        array = np.asarray(data)
    except Exception:  # ragged, or with something strange in it
        several: Iterable[object] = data if isinstance(data, Sequence) else ()
    else:
        if array.dtype.kind in "biuf" and array.ndim == 2 and array.shape[1] >= columns:
            return _doubles(array[:, :columns])
        if array.dtype.kind in "biuf" and array.ndim == 1 and columns == 1:
            return _doubles(array[:, None])
        several = data if isinstance(data, list | tuple) else array if array.ndim else ()
    parsed = [_row(record, columns) for record in several]
    return np.array(parsed, dtype=np.float64).reshape(len(parsed), columns)


def check_table(data: object, columns: int) -> None:
    """Refuse data that cannot be a table with so many columns, by type and public shape alone,
    before anything is charged.
    """
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple):
        fits = (len(shape) == 2 and shape[1] >= columns) or (len(shape) == 1 and columns == 1)
        described = describe_shape(shape)
    else:
        fits = (isinstance(data, Sequence) and not isinstance(data, str | bytes)) or hasattr(
            data, "__array__"
        )
        described = f"data={type(data).__name__}"
    if not fits and columns == 1:
        raise refusals.RECORDS_ARE_NO_NUMBERS(data=described)
    if not fits:
        raise refusals.RECORDS_ARE_NO_ROWS(data=described, columns=columns)


def _doubles(array: NDArray[np.generic]) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(array, dtype=np.float64)


def _row(record: object, columns: int) -> list[float]:
    """Read one record, looking at this record alone."""
    try:
        cells = np.asarray(record, dtype=object)
    except Exception:
        cells = np.empty((0, 0))
    if cells.ndim > 1 or (cells.ndim == 0 and columns > 1) or cells.size < columns:
        return [math.nan] * columns
    return [
        _cell(cell) for cell in ([cells.item()] if cells.ndim == 0 else cells[:columns].tolist())
    ]


def _cell(cell: Any) -> float:
    if isinstance(cell, str | bytes | bytearray | complex | np.complexfloating | np.ndarray):
        return math.nan
    try:
        return float(cell)
    except Exception:
        return math.nan


def clip(values: Floats, ends: Ends) -> Floats:
    """Clip values to their interval; NaN becomes the lower end."""
    low, high = float(ends[0]), float(ends[1])
    return np.asarray(np.clip(np.nan_to_num(values, nan=low, posinf=high, neginf=low), low, high))


def check_record_count(records: object) -> int | None:
    """Check a public number of records."""
    if records is None or (
        isinstance(records, int | np.integer)
        and not isinstance(records, bool)
        and 1 <= records <= 2**30
    ):
        return None if records is None else int(records)
    raise refusals.RECORD_COUNT_OUT_OF_RANGE(records=records)


def check_ends(pair: object) -> Ends:
    """Check a public interval."""
    return check_bounds(pair, 1)[0]


def box_of(inputs: object) -> tuple[Ends, ...]:
    """Check the public intervals of the coordinates of a record."""
    return check_bounds(inputs, None)


def check_dimensions(lattice: Lattice, box: tuple[Ends, ...]) -> None:
    """Check that the lattice and the fit have the same number of coordinates."""
    if lattice.dimensions != len(box):
        raise refusals.FIT_OF_ANOTHER_DIMENSION(lattice=lattice.dimensions, fit=len(box))


def require_records(records: int | None, name: str) -> int:
    """Return the number of records; refuse a fit without one, as its sensitivity depends on it."""
    if records is None:
        raise refusals.RECORD_COUNT_MISSING(fit=name)
    return records


def check_replace(relation: str | None, name: str) -> None:
    if relation not in (None, "replace"):
        raise refusals.FIT_NEEDS_REPLACE(fit=name, relation=relation)
