"""Convert pandas columns to Arrow columns, by their dtype.

*Objects*   A column of Python objects is text, unless the owner declares another type. A cell that
            is neither text nor of the declared kind is null.
*Category*  A categorical column has the type of its categories, most often text.
*Missing*   NaN, NaT, None and NA are null. The index is not a column.
*Zones*     Instants are the same in every zone; they are kept in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from . import engine_refusals as refusals

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

OBJECTS: Mapping[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "integer": (int, np.integer),
    "decimal": (Decimal, int, np.integer),
    "float": (float, np.floating, int, np.integer),
    "date": (date,),
    "timestamp": (datetime,),
    "uuid": (UUID,),
}
"""Kind of a column → the Python objects that it may hold, besides text."""


def types(frame: pd.DataFrame) -> dict[str, object]:
    """Map each column to its Arrow type, or to its dtype where Arrow has none."""
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise refusals.COLUMN_NAME_NOT_TEXT(kind=type(name).__name__)
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise refusals.PANDAS_COLUMN_TWICE(column=repeated)
    return {name: pandas_type(dtype) or dtype for name, dtype in frame.dtypes.items()}


def columns(frame: pd.DataFrame, names: Sequence[str], kinds: Mapping[str, str]) -> pa.Table:
    """Convert the named columns to an Arrow table."""
    import pyarrow as pa

    return pa.table(
        {
            name: _column(frame[name], frame.dtypes[name], kinds.get(name, "string"))
            for name in names
        }
    )


def pandas_type(dtype: np.dtype[np.generic] | ExtensionDtype) -> pa.DataType | None:
    """Return the Arrow type of a dtype; None if it is not read."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.CategoricalDtype):
        values = pandas_type(dtype.categories.dtype)
        return values and pa.dictionary(pa.int32(), values)
    if isinstance(dtype, pd.ArrowDtype):
        return dtype.pyarrow_dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pa.timestamp(dtype.unit, "UTC")
    if isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object):
        return pa.large_string()
    # nullable numbers and truth values wrap a NumPy dtype
    plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    # Arrow lacks 80-bit floats
    if plain is None or plain.kind not in "biufM" or plain.itemsize > 8:
        return None
    return (
        pa.timestamp(np.datetime_data(plain.str)[0])
        if plain.kind == "M"
        else pa.from_numpy_dtype(plain)
    )


def _column(
    series: pd.Series, dtype: np.dtype[np.generic] | ExtensionDtype, kind: str
) -> pa.Array | pa.ChunkedArray:
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.int32)
        categories = pd.Series(
            dtype.categories.array, dtype=dtype.categories.dtype
        )  # of that dtype: pandas would try texts first, and stop at one that is none
        values = _column(categories, dtype.categories.dtype, kind)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), values)
    if isinstance(dtype, pd.StringDtype):
        return _texts(series, series.array, "string")
    if dtype == np.dtype(object):
        return _texts(series, [text_of(cell, kind) for cell in series.array], kind)
    return pa.array(series.array, from_pandas=True).cast(pandas_type(dtype))


def _texts(series: pd.Series, cells: Sequence[object], kind: str) -> pa.Array:
    """Convert a text column at once if all of it is UTF-8, else cell by cell."""
    import pyarrow as pa

    try:
        return pa.array(cells, type=pa.large_string(), from_pandas=True)
    except Exception:
        return pa.array(
            [_utf8(text_of(cell, kind)) for cell in series.array], type=pa.large_string()
        )


def text_of(cell: object, kind: str) -> str | None:
    """Write a Python object as text that the engine reads back as the column's kind; None for
    objects of another kind.
    """
    if isinstance(cell, str):
        return str(cell)
    if (
        not isinstance(cell, OBJECTS.get(kind, ()))
        or (kind != "bool" and isinstance(cell, bool))
        or (kind == "date" and isinstance(cell, datetime))
    ):
        return None
    try:
        if isinstance(cell, datetime):
            return (cell.astimezone(UTC).replace(tzinfo=None) if cell.tzinfo else cell).isoformat(
                sep=" "
            )
        return str(cell).lower() if kind == "bool" else str(cell)
    except Exception:  # an instant outside the calendar in UTC, an integer of too many digits
        return None


def _utf8(text: str | None) -> str | None:
    try:
        return None if text is None else text.encode().decode()
    except UnicodeEncodeError:
        return None
