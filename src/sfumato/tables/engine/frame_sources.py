"""Read pandas, Polars and Arrow tables as Arrow columns, which the engine copies.

*Types*     come from the dtype alone, never from values: one value must not change the schema.
*Total*     Reading cannot fail, whatever a cell holds: a value that does not fit is null.
*When*      The engine copies columns when the first answer needs them, not when the table is
            declared; the owner must not change them in the meantime.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import engine_refusals as refusals

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

MILLISECONDS_OF_DAY = 86_400_000


class FrameSource:
    """A table in memory: its Arrow schema is fixed now, its columns are converted by `load`."""

    def __init__(self, types: Mapping[str, object], make: Callable[[list[str]], pa.Table]) -> None:
        """`types` maps each column to its Arrow type, or to the name of a type that Arrow lacks.
        `make` returns the named columns as an Arrow table.
        """
        import pyarrow as pa

        read = {
            name: arrow_type(kind) if isinstance(kind, pa.DataType) else None
            for name, kind in types.items()
        }
        self.schema = pa.schema([(name, kind) for name, kind in read.items() if kind is not None])
        self.left_out = {
            name: unread_reason(types[name]) for name, kind in read.items() if kind is None
        }
        self._make = make

    def empty(self) -> pa.Table:
        return self.schema.empty_table()

    def load(self) -> pa.Table:
        import pyarrow as pa

        return pa.table(
            [make_readable(column) for column in self._make(self.schema.names).columns],
            schema=self.schema,
        )


def find_frame(source: object, kinds: Mapping[str, str]) -> FrameSource | None:
    """Return the source as a table in memory, or None if it is not one. `kinds` holds the declared
    kinds, for columns of Python objects.
    """
    for (library, name), frame in FRAMES.items():
        module = sys.modules.get(library)  # a caller with a frame has loaded its library
        if module is not None and isinstance(source, getattr(module, name)):
            return frame(source, kinds)
    return None


def unread_reason(kind: object) -> str:
    """Say why a column of this type is left out."""
    return (
        f"columns of type {kind!s:.40} are not read: only truth values, numbers, text, "
        f"dates, timestamps and uuids are"
    )


def arrow_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the Arrow type that the engine gets for a type; None if it is not read."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        values = None if types.is_dictionary(kind.value_type) else arrow_type(kind.value_type)
        return values and pa.dictionary(kind.index_type, values)
    if types.is_float16(kind):
        return pa.float32()
    if types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        return pa.timestamp("us", kind.tz)
    if types.is_date64(kind):
        return pa.date32()
    if types.is_decimal(kind):
        return kind if kind.bit_width <= 128 and kind.scale >= 0 else None
    if types.is_string_view(kind):
        # DuckDB filters the scan of a join by is_in, which Arrow lacks for string views
        return pa.large_string()
    texts = types.is_string(kind) or types.is_large_string(kind)
    plain = (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
    )
    return kind if texts or plain or kind == pa.uuid() else None


def make_readable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert a column to a type and to cells that the engine's scan can always read; other cells
    become null.
    """
    import pyarrow as pa

    kind, target = column.type, arrow_type(column.type)
    # convert the dictionary of each chunk; unreadable values become null in it
    if pa.types.is_dictionary(kind):
        parts = [
            _dictionary(
                part.indices, make_readable(pa.chunked_array([part.dictionary])).combine_chunks()
            )
            for part in column.chunks
        ]
        return pa.chunked_array(parts, type=target)
    if pa.types.is_string_view(kind):
        return _utf8(column.cast(target))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _utf8(column)
    if pa.types.is_date64(kind):
        return _scale(column, 1, MILLISECONDS_OF_DAY, 2**31 - 1).cast(pa.int32()).cast(target)
    if pa.types.is_timestamp(kind) and kind != target:
        steps = 10**6 if kind.unit == "s" else 10**3
        return _scale(column, steps, 1, (2**63 - 1) // steps).cast(target)
    return column if kind == target else column.cast(target)


def _dictionary(indices: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Build a dictionary column; an index outside the dictionary becomes null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.and_(pc.greater_equal(indices, 0), pc.less(indices, len(values)))
    return pa.DictionaryArray.from_arrays(
        pc.if_else(inside, indices, pa.scalar(None, indices.type)), values
    )


def _scale(column: pa.ChunkedArray, times: int, parts: int, most: int) -> pa.ChunkedArray:
    """Divide the integers of a column by `parts` (rounded down), replace those beyond `most` by
    null, and multiply by `times`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    integers = column.cast(pa.int64())
    if parts > 1:  # the quotient of integers is rounded towards zero
        down = pc.divide(integers, parts)
        integers = pc.if_else(
            pc.greater(pc.multiply(down, parts), integers), pc.subtract(down, 1), down
        )
    fits = pc.and_(pc.greater_equal(integers, -most), pc.less_equal(integers, most))
    return pc.multiply(pc.if_else(fits, integers, pa.scalar(None, pa.int64())), times)


def _utf8(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column in which cells that are not UTF-8 are null."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        cells = column.cast(
            pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
        ).to_pylist()
        return pa.chunked_array([pa.array([_text(cell) for cell in cells], type=column.type)])
    return column


def _text(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def _pandas(frame: pd.DataFrame, kinds: Mapping[str, str]) -> FrameSource:
    from .pandas_frames import columns, types

    return FrameSource(types(frame), lambda names: columns(frame, names, kinds))


def _polars(frame: pl.DataFrame, kinds: Mapping[str, str]) -> FrameSource:
    types: dict[str, object] = {}
    for name, dtype in frame.schema.items():
        try:
            types[name] = (
                dtype
                if dtype.is_object()
                else frame.select(name).clear().to_arrow().schema.field(0).type
            )
        except Exception:  # a type that Arrow does not have
            types[name] = dtype
    return FrameSource(types, lambda names: frame.select(names).to_arrow())


def _arrow(table: pa.Table, kinds: Mapping[str, str]) -> FrameSource:
    names = table.schema.names
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise refusals.ARROW_COLUMN_TWICE(column=repeated)
    return FrameSource(
        {field.name: field.type for field in table.schema}, lambda names: table.select(names)
    )


def _lazy(frame: pl.LazyFrame, kinds: Mapping[str, str]) -> FrameSource:
    raise refusals.LAZY_FRAME()


def _reader(reader: pa.RecordBatchReader, kinds: Mapping[str, str]) -> FrameSource:
    raise refusals.ARROW_READER()


FRAMES: Mapping[tuple[str, str], Callable[[Any, Mapping[str, str]], FrameSource]] = {
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "LazyFrame"): _lazy,
    ("pyarrow", "Table"): _arrow,
    ("pyarrow", "RecordBatchReader"): _reader,
}
"""Library and class → the function that reads it."""
