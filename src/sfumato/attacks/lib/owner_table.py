"""Read the owner's table as the adversary sees it: raw columns, from any source.

*Sources*   A pandas or Polars frame, an Arrow table, a DuckDB relation, an Ibis table, the path of
            a Parquet, CSV or DuckDB file, a dictionary of columns, a list of rows.
*Columns*   Every column that is asked for, as NumPy values, as integer codes (equal values, equal
            codes; missing values are equal to each other), or as numbers (dates as days).
*Raw*       Nothing here is private. A table that is protected already is refused: attack the data
            it was made of.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import attack_refusals as refusals
from .table_readers import as_arrow, check_columns, choose_columns, find_unread_lines
from .unread_lines import UnreadLines

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Columns(Mapping[str, NDArray[np.generic]]):
    """Some columns of a table, by name."""

    n: int
    arrow: pa.Table = field(repr=False)
    unread: UnreadLines | None = None  # lines of a CSV file that are not in it

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        """Return the values: numbers, booleans and instants as NumPy types, the rest as objects."""
        if name not in self.arrow.column_names:
            raise KeyError(name)
        return np.asarray(self.arrow.column(name).combine_chunks().to_numpy(zero_copy_only=False))

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrow.column_names)

    def __len__(self) -> int:
        return int(self.arrow.num_columns)

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return dense codes of a column: 0, 1, 2, … in the order in which values first occur."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.arrow.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = pc.add(column.cast(pa.float64()), 0.0)  # −0 is 0
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        if (
            pa.types.is_nested(column.type)
            or pa.types.is_null(column.type)
            or isinstance(column.type, pa.BaseExtensionType)
        ):
            column = pa.chunked_array(
                [
                    pa.array(
                        [None if cell is None else str(cell) for cell in column.to_pylist()],
                        pa.string(),
                    )
                ]
            )
        encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return the column as numbers: dates and instants as days, text parsed as numbers or
        dates; missing values are NaN.
        """
        return _numbers(self.arrow.column(name), name)

    def numeric(self, name: str) -> bool:
        """Whether the column holds numbers, which attacks sum up."""
        from pyarrow import types

        kind = self.arrow.schema.field(name).type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def halving(self, name: str) -> tuple[NDArray[np.bool_], object]:
        """Find the value of the column whose share is closest to one half, and its rows."""
        codes = self.codes(name)
        rows = codes == np.abs(np.bincount(codes) - self.n / 2).argmin()
        return rows, self.arrow.column(name)[int(np.flatnonzero(rows)[0])].as_py()

    def select_rows(self, rows: NDArray[np.generic]) -> Columns:
        """Keep only these rows, by number or by boolean mask."""
        import pyarrow as pa

        chosen = (
            self.arrow.filter(pa.array(rows))
            if rows.dtype == bool
            else self.arrow.take(pa.array(rows))
        )
        return Columns(chosen.num_rows, chosen)


def read_columns(
    table: object, names: Sequence[str] | None = None, *, partly: bool = False
) -> Columns:
    """Read these columns of a table, or all. Refuse a CSV file with unreadable lines, unless
    `partly` says that the caller reports them.
    """
    needed = None if names is None else check_columns(names)
    arrow = table.arrow if isinstance(table, Columns) else as_arrow(table, needed)
    chosen = choose_columns(names, arrow.column_names)
    arrow = arrow.select(chosen)
    if isinstance(table, Columns):
        return Columns(arrow.num_rows, arrow, table.unread)
    name = (
        os.path.basename(os.fspath(table))
        if isinstance(table, str | os.PathLike)
        else type(table).__name__
    )
    missing = find_unread_lines(table, arrow.num_rows)
    if missing is not None and not (partly and arrow.num_rows):
        raise missing.refusal(name)
    if arrow.num_rows == 0:
        raise refusals.TABLE_WITHOUT_ROWS(table=name)
    return Columns(arrow.num_rows, arrow, missing)


def _numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _numbers(column.cast(kind.value_type), name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.divide(
            column.cast(pa.timestamp("us", kind.tz if pa.types.is_timestamp(kind) else None))
            .cast(pa.int64())
            .cast(pa.float64()),
            86_400e6,
        )
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _parse_numbers(column, name)
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise refusals.COLUMN_NOT_NUMERIC(column=name)
    return np.asarray(
        column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if isinstance(column, pa.Array)
        else column.cast(pa.float64()).to_numpy()
    )


def _parse_numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    for kind in (pa.float64(), pa.date32(), pa.timestamp("us")):
        try:
            return _numbers(column.cast(kind), name)
        except pa.ArrowInvalid:
            continue
    raise refusals.COLUMN_NOT_NUMERIC(column=name)
