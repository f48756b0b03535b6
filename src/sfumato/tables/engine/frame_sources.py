"""Tables in memory: pandas, Polars and Arrow, as Arrow columns that the engine copies.

*Types*     From the dtype alone, never from values: one value must not change the schema.
*Total*     Reading cannot fail, whatever a cell holds: what does not fit is null.
*When*      Columns are copied when the first answer needs them, not when the table is declared;
            they must not be changed in the meantime.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import Refused

MILLISECONDS_OF_DAY = 86_400_000


class Held:
    """A table in memory: an Arrow schema that is known now, and columns that are made when they are
    asked for.
    """

    def __init__(self, types: Mapping[str, Any], make: Callable[[list[str]], Any]) -> None:
        """`types`: of each column its Arrow type, or the name of a type that Arrow does not have.
        `make`: these columns, as an Arrow table.
        """
        import pyarrow as pa

        read = {
            name: arrow_type(kind) if isinstance(kind, pa.DataType) else None
            for name, kind in types.items()
        }
        self.schema = pa.schema([(name, kind) for name, kind in read.items() if kind is not None])
        self.left_out = {name: unread(types[name]) for name, kind in read.items() if kind is None}
        self._make = make

    def empty(self) -> Any:
        return self.schema.empty_table()

    def load(self) -> Any:
        import pyarrow as pa

        return pa.table(
            [readable(column) for column in self._make(self.schema.names).columns],
            schema=self.schema,
        )


def find_frame(source: object, kinds: Mapping[str, str]) -> Held | None:
    """A table in memory, if that is what was given. `kinds` are the declared ones, for columns of
    Python objects.
    """
    for (library, name), frame in FRAMES.items():
        module = sys.modules.get(library)  # whoever has a frame has loaded its library
        if module is not None and isinstance(source, getattr(module, name)):
            return frame(source, kinds)
    return None


def unread(kind: object) -> str:
    """Why a column is left out."""
    return (
        f"columns of type {kind!s:.40} are not read: only truth values, numbers, text, "
        f"dates, timestamps and uuids are"
    )


def arrow_type(kind: Any) -> Any:
    """The Arrow type that the engine gets for one; none where it is not read."""
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
        return (
            pa.large_string()
        )  # Arrow has no is_in for views, which DuckDB asks it for when a join filters the scan
    texts = types.is_string(kind) or types.is_large_string(kind)
    plain = (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
    )
    return kind if texts or plain or kind == pa.uuid() else None


def readable(column: Any) -> Any:
    """The same column in a type that the engine's scan cannot fail on, and cells that it can read:
    what it cannot is null.
    """
    import pyarrow as pa

    kind, wanted = column.type, arrow_type(column.type)
    if pa.types.is_dictionary(
        kind
    ):  # the values of each part are made readable; those that cannot be are null in the dictionary
        made = [
            _dictionary(
                part.indices, readable(pa.chunked_array([part.dictionary])).combine_chunks()
            )
            for part in column.chunks
        ]
        return pa.chunked_array(made, type=wanted)
    if pa.types.is_string_view(kind):
        return _utf8(column.cast(wanted))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _utf8(column)
    if pa.types.is_date64(kind):
        return _scaled(column, 1, MILLISECONDS_OF_DAY, 2**31 - 1).cast(pa.int32()).cast(wanted)
    if pa.types.is_timestamp(kind) and kind != wanted:
        steps = 10**6 if kind.unit == "s" else 10**3
        return _scaled(column, steps, 1, (2**63 - 1) // steps).cast(wanted)
    return column if kind == wanted else column.cast(wanted)


def _dictionary(indices: Any, values: Any) -> Any:
    """A column of a dictionary; null where a place is not in it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.and_(pc.greater_equal(indices, 0), pc.less(indices, len(values)))
    return pa.DictionaryArray.from_arrays(
        pc.if_else(inside, indices, pa.scalar(None, indices.type)), values
    )


def _scaled(column: Any, times: int, parts: int, most: int) -> Any:
    """The integers beneath a column, by so many parts rounded down, null where they are beyond the
    most, and times so much.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = column.cast(pa.int64())
    if parts > 1:  # the quotient of integers is rounded towards zero
        down = pc.divide(whole, parts)
        whole = pc.if_else(pc.greater(pc.multiply(down, parts), whole), pc.subtract(down, 1), down)
    fits = pc.and_(pc.greater_equal(whole, -most), pc.less_equal(whole, most))
    return pc.multiply(pc.if_else(fits, whole, pa.scalar(None, pa.int64())), times)


def _utf8(column: Any) -> Any:
    """Text; null where the bytes of a cell are none."""
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


def _pandas(frame: Any, kinds: Mapping[str, str]) -> Held:
    from .pandas_frames import columns, types

    return Held(types(frame), lambda names: columns(frame, names, kinds))


def _polars(frame: Any, kinds: Mapping[str, str]) -> Held:
    types: dict[str, Any] = {}
    for name, dtype in frame.schema.items():
        try:
            types[name] = (
                dtype
                if dtype.is_object()
                else frame.select(name).clear().to_arrow().schema.field(0).type
            )
        except Exception:  # a type that Arrow does not have
            types[name] = dtype
    return Held(types, lambda names: frame.select(names).to_arrow())


def _arrow(table: Any, kinds: Mapping[str, str]) -> Held:
    if len(set(table.schema.names)) != len(table.schema.names):
        raise Refused(
            "table.columns",
            "protect(Table, …)",
            "two columns have the same name",
            "table.rename_columns([…])",
        )
    return Held(
        {field.name: field.type for field in table.schema}, lambda names: table.select(names)
    )


def _lazy(frame: Any, kinds: Mapping[str, str]) -> Held:
    raise Refused(
        "table.source",
        "protect(LazyFrame, …)",
        "a lazy frame is a query, not a table",
        "protect(frame.collect(), …), or the path of the file",
    )


def _reader(reader: Any, kinds: Mapping[str, str]) -> Held:
    raise Refused(
        "table.source",
        "protect(RecordBatchReader, …)",
        "a reader is read once, a table is asked many times",
        "protect(reader.read_all(), …)",
    )


FRAMES: Mapping[tuple[str, str], Callable[[Any, Mapping[str, str]], Held]] = {
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "LazyFrame"): _lazy,
    ("pyarrow", "Table"): _arrow,
    ("pyarrow", "RecordBatchReader"): _reader,
}
"""Library and class → how it is read."""
