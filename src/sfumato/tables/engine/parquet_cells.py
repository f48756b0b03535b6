"""Turn Parquet cells that DuckDB fails on into null: text that is not UTF-8, and timestamps in
milliseconds that microseconds cannot hold.

*Check*     Before a query reads such a column for the first time, the engine reads the column once,
            alone. If that succeeds, DuckDB reads the file itself.
*Copy*      If DuckDB fails, the engine makes a copy and reads the copy from then on: Arrow reads
            texts and timestamps, with null for unreadable cells, and DuckDB reads the rest.
*Same*      The values of a row do not depend on the way it was read, and the way does not depend on
            the query: one unreadable cell changes nothing but itself. A check holds for one state
            of the files; after a file was replaced, the next query checks again.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import engine_refusals as refusals
from .duckdb_engine import quote_name, quote_text
from .frame_sources import arrow_type, make_readable

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

TEXT = "VARCHAR"
_INSTANTS = ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_READ = {TEXT: "bit_xor(strlen({0}))", **dict.fromkeys(_INSTANTS, "bit_xor(epoch_us({0}))")}
"""DuckDB's name of a type → an aggregate that reads every cell, whatever the footer's statistics.
"""
_MILLISECONDS = (
    "SELECT DISTINCT name FROM parquet_schema([{0}]) WHERE converted_type = "
    "'TIMESTAMP_MILLIS' OR contains(logical_type, 'MILLIS=MilliSeconds')"
)

NUMBER = "file_row_number"  # DuckDB's name of a virtual column

State = tuple[tuple[int, int, int, int], ...]


@dataclass(slots=True)
class ParquetCells:
    """The Parquet files of one table, and the columns whose cells were checked."""

    view: str  # the name of the table in queries
    paths: tuple[str, ...]
    relation: str  # what stands after FROM to have DuckDB read the files
    types: Mapping[str, str]  # columns that are read → DuckDB's names of their types
    selected: str  # the view's SELECT, with {0} where its FROM names a relation
    _state: State = ()
    _milliseconds: set[str] = field(default_factory=set)
    _checked: set[str] = field(default_factory=set)
    _copied: bool = False

    def __post_init__(self) -> None:
        if NUMBER in map(str.lower, self.types):
            raise refusals.COLUMN_NAME_RESERVED(column=NUMBER)

    def prepare(self, cursor: DuckDBPyConnection, columns: Collection[str]) -> None:
        """Make the view read these columns without an error. Columns of milliseconds are always
        checked: DuckDB reads their footer statistics in every query.
        """
        state = _state(self.paths)
        if state != self._state:
            if self._copied:
                self._show(cursor, self.relation)
            coarse = {
                name
                for (name,) in cursor.execute(
                    _MILLISECONDS.format(", ".join(map(quote_text, self.paths)))
                ).fetchall()
            }
            self._milliseconds = {
                name for name, kind in self.types.items() if kind in _INSTANTS and name in coarse
            }
            self._state, self._copied = state, False
            self._checked.clear()
        texts = {name for name, kind in self.types.items() if kind == TEXT and name in columns}
        new = sorted((texts | self._milliseconds) - self._checked)
        if new and not self._copied and not self._readable(cursor, new):
            self._copy(cursor)
        self._checked |= set(new)

    def _readable(self, cursor: DuckDBPyConnection, columns: Collection[str]) -> bool:
        import duckdb

        try:
            reads = (_READ[self.types[name]].format(quote_name(name)) for name in columns)
            cursor.execute(f"SELECT {', '.join(reads)} FROM {self.relation}").fetchall()
        except (duckdb.ConversionException, duckdb.InvalidInputException):
            return False
        return True

    def _copy(self, cursor: DuckDBPyConnection) -> None:
        """Copy the files into a table: Arrow reads texts and timestamps, DuckDB the other columns,
        and the row number joins them.
        """
        name, number = quote_name(f"{self.view} read by Arrow"), quote_name("number of the row")
        cursor.execute(
            f"CREATE OR REPLACE TABLE {name} "
            f"({', '.join(f'{quote_name(column)} {kind}' for column, kind in self.types.items())})"
        )
        doubtful = [column for column, kind in self.types.items() if kind in _READ]
        chosen = ", ".join(
            f"{'a' if column in doubtful else 'd'}.{quote_name(column)}" for column in self.types
        )
        for path in self.paths:
            rest = f"read_parquet({quote_text(path)}, hive_partitioning = false, {NUMBER} = true)"
            with WithoutArrowTypes(path) as file:
                cursor.register("rows of arrow", _reader(file, doubtful, "number of the row"))
                cursor.execute(
                    f'INSERT INTO {name} SELECT {chosen} FROM "rows of arrow" a JOIN '
                    f"{rest} d ON a.{number} = d.{NUMBER}"
                )
                cursor.unregister("rows of arrow")
        self._show(cursor, name)
        self._copied = True

    def _show(self, cursor: DuckDBPyConnection, relation: str) -> None:
        cursor.execute(
            f"CREATE OR REPLACE VIEW {quote_name(self.view)} AS "
            f"{self.selected.replace('{0}', relation)}"
        )


def _state(paths: Collection[str]) -> State:
    stats = [os.stat(path) for path in paths]
    return tuple((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)


def _reader(source: WithoutArrowTypes, columns: Sequence[str], number: str) -> pa.RecordBatchReader:
    """Read columns of texts and timestamps with Arrow, in batches, with the number of each row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.PythonFile(source), coerce_int96_timestamp_unit="us")
    stored = {column: file.schema_arrow.field(column).type for column in columns}
    kinds = {
        column: arrow_type(kind) if pa.types.is_timestamp(kind) else pa.large_string()
        for column, kind in stored.items()
    }
    schema = pa.schema([(number, pa.int64()), *kinds.items()])

    def batches() -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in file.iter_batches(columns=list(columns)):
            numbers = pa.array(range(first, first + batch.num_rows), pa.int64())
            yield pa.record_batch(
                [numbers, *(_plain(batch.column(column), kind) for column, kind in kinds.items())],
                schema=schema,
            )
            first += batch.num_rows

    return pa.RecordBatchReader.from_batches(schema, batches())


def _plain(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Replace unreadable cells by null. DuckDB reads the extreme nanoseconds of Parquet as
    infinite, so they are null, too.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_large_string(kind):
        column = pc.cast(column, options=pc.CastOptions(target_type=kind, allow_invalid_utf8=True))
    elif column.type.unit == "ns":
        infinite = pc.is_in(column.cast(pa.int64()), pa.array([2**63 - 1, 1 - 2**63]))
        column = pc.if_else(infinite, pa.scalar(None, column.type), column)
    return make_readable(pa.chunked_array([column])).combine_chunks()


class WithoutArrowTypes(io.FileIO):
    """A Parquet file whose footer hides the types that Arrow added: with them Arrow builds
    dictionaries of texts, and fails on texts that are not UTF-8.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        end = self.seek(-8, os.SEEK_END)
        self._start = end - int.from_bytes(super().read(4) or b"", "little")
        self.seek(self._start)
        # a text of the same length
        self._footer = (super().read(end - self._start) or b"").replace(
            b"ARROW:schema", b"other:schema"
        )
        self.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        place = self.tell()
        data = super().read(-1 if size is None else size) or b""
        first, last = (
            max(place, self._start),
            min(place + len(data), self._start + len(self._footer)),
        )
        if first >= last:
            return data
        return (
            data[: first - place]
            + self._footer[first - self._start : last - self._start]
            + data[last - place :]
        )
