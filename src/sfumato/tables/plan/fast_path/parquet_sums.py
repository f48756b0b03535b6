"""Fast path for sums over stored columns of Parquet files, by one public integer key or over all
rows: Arrow reads the columns, NumPy adds them.

*Same*      The integers of every row are those of `grids`, by the same two additions of doubles,
            and its weight is that of `bounding`. So the sums equal those of the SQL statement:
            exact, in any order. Tests compare the two.
*Units*     that are integers are counted in an array from the least to the largest unit; then the
            rows are read again and weighed.
*Once*      Each file is opened once, for its footer and both reads: if it is replaced in between,
            the second read still sees the rows that were counted.
*Why*       An addition takes DuckDB five times as long as NumPy, and such a query does little else.
            But NumPy adds in one thread while other threads read: with more than a few threads,
            DuckDB is faster.
*When*      The query decides: sums and counts of stored columns, without conditions, computed
            columns or joins; and the range of units that the footers state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from ...aggregates.component import FLAT, Component
from ...aggregates.count_tree import Integers
from ...engine.arrow_arrays import array
from ...engine.stored_columns import StoredColumns
from ...expr.expressions import ColumnRef
from ...query.stages import Query
from ..bounding import EXACT, NARROW, Bounding
from . import numpy_sums
from .numpy_sums import (
    PART,
    Buffers,
    Find,
    GridColumn,
    MaskedNumbers,
    UnexpectedRows,
    WeighedRows,
    Weights,
    cells_of,
    fits,
    is_narrow,
    make_finder,
    numbers_of,
    part_of,
    parts,
)

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from ibis.expr.schema import Schema

BATCH = 1 << 18  # rows that are read at a time
BUFFER = 1 << 16  # bytes of a file that are read at a time
GROUPS = 4  # parts of a file that are read at a time
MOST_FILES = 256  # that are open at a time: a process may often have no more than 1,024
AHEAD = 2  # batches that are read while one is added
MOST_PLACES = 1 << 20  # from the least to the largest key
MOST_UNITS = 1 << 26  # and unit
MOST_ROWS = numpy_sums.MOST_COUNTED  # with units


class TimeUp(Exception):
    """The time-out passed."""


@dataclass(frozen=True, slots=True, eq=False)
class PlainSums:
    """The sums of a query: the key with its public values, the components by position, and the
    contribution bound.
    """

    stored: StoredColumns
    key: str | None
    domain: tuple[int, ...]
    pieces: Mapping[int, Component]
    bounding: Bounding

    @property
    def unit(self) -> str | None:
        return self.bounding.unit[0] if self.bounding.unit else None

    @property
    def unit_and_key(self) -> list[str]:
        """The columns that tell a row's unit, and whether the row counts."""
        return list(dict.fromkeys(name for name in (self.unit, self.key) if name is not None))

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(
            dict.fromkeys(
                [
                    *self.unit_and_key,
                    *(name for name in map(_column_name, self.pieces.values()) if name is not None),
                ]
            )
        )

    def can_read(self, files: Sequence[pq.ParquetFile]) -> bool:
        """Whether Arrow reads the columns as the types that DuckDB named (a writer's notes in the
        file may differ), and whether the range of units is small enough for an array.
        """
        schemas = [file.schema_arrow for file in files]
        # DuckDB renames columns whose names it considers equal
        if not all(tuple(schema.names) == self.stored.names for schema in schemas):
            return False
        if not all(
            str(schema.field(name).type) == self.stored.columns[name]
            for schema in schemas
            for name in self.columns
        ):
            return False
        return self.unit is None or self._range(files) is not None

    @contextmanager
    def open_files(self) -> Iterator[list[pq.ParquetFile]]:
        """Open the files."""
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            yield [
                stack.enter_context(pq.ParquetFile(path, buffer_size=BUFFER))
                for path in self.stored.paths
            ]

    def attempt(self, schema: Schema, threads: int, stopped: Callable[[], bool]) -> pa.Table | None:
        """Compute the statement's result with this schema; None if SQL has to do it. Secret."""
        if len(self.stored.paths) > MOST_FILES:
            return None
        try:
            # a NumPy warning would reveal data
            with (
                self.open_files() as files,
                np.errstate(all="ignore"),
            ):
                return (
                    self.compute(files, schema, threads, stopped) if self.can_read(files) else None
                )
        except TimeUp:
            raise
        except Exception:  # what Arrow cannot read DuckDB may
            return None

    def compute(
        self,
        files: Sequence[pq.ParquetFile],
        schema: Schema,
        threads: int,
        stopped: Callable[[], bool],
    ) -> pa.Table:
        """Compute the result from open files, with a row for every public key."""
        import pyarrow as pa

        find = make_finder(self.domain) if self.domain else None
        weights = None if self.unit is None else self._weights(files, find, threads, stopped)
        totals = _Totals(self, find, weights)
        with closing(self._batches(files, self.columns, threads, stopped)) as batches:
            for batch in batches:
                totals.add(batch)
        keys = {} if self.key is None else {"k0": array(self.domain, schema["k0"].to_pyarrow())}
        lines = len(self.domain) or 1
        return pa.table(
            keys
            | {
                name: array(sums[:lines].tolist(), schema[name].to_pyarrow())
                for name, sums in totals.by_name().items()
            }
        )

    def _weights(
        self,
        files: Sequence[pq.ParquetFile],
        find: Find | None,
        threads: int,
        stopped: Callable[[], bool],
    ) -> Weights:
        """Compute the weight of every unit from its number of rows with public keys."""
        ends = self._range(files)
        assert ends is not None
        assert self.unit is not None
        weights = Weights(*ends, self.bounding)
        buffers = Buffers()
        with closing(self._batches(files, self.unit_and_key, threads, stopped)) as batches:
            for batch in batches:
                numbers = {name: numbers_of(batch.column(name)) for name in self.unit_and_key}
                for part in parts(batch.num_rows):
                    buffers.begin()
                    counted = (
                        None
                        if find is None or self.key is None
                        else find(*part_of(numbers[self.key], part), buffers) < len(self.domain)
                    )
                    weights.count(*part_of(numbers[self.unit], part), counted, buffers)
        weights.weigh()
        return weights

    def _range(self, files: Sequence[pq.ParquetFile]) -> tuple[int, int] | None:
        """Return the least and the largest unit in the footers; None if they are not stated or too
        far apart.
        """
        ends: list[int] = []
        for file in files:
            footer = file.metadata
            for part in range(footer.num_row_groups):
                stated = _footer_range(footer.row_group(part), self.unit)
                if stated is None:
                    return None
                ends += stated
        low, high = min(ends, default=0), max(ends, default=0)
        return (low, high) if high - low < MOST_UNITS else None

    def _batches(
        self,
        files: Sequence[pq.ParquetFile],
        columns: list[str],
        threads: int,
        stopped: Callable[[], bool],
    ) -> Generator[pa.RecordBatch, None, None]:
        """Yield batches of rows until the time-out, reading ahead. Close this before the files: a
        thread may still be reading.
        """
        rows = 0
        with closing(
            _read_ahead(_read_batches(files, columns, threads), apart=threads > 1)
        ) as ahead:
            for batch in ahead:
                rows += batch.num_rows
                if stopped():
                    raise TimeUp
                if rows > self.bounding.table_rows or (self.unit is not None and rows > MOST_ROWS):
                    raise UnexpectedRows
                yield batch


def _read_batches(
    files: Sequence[pq.ParquetFile], columns: list[str], threads: int
) -> Iterator[pa.RecordBatch]:
    for file in files:
        # a few row groups at a time: Arrow keeps all that it has read
        for first in range(0, file.num_row_groups, GROUPS):
            some = range(first, min(first + GROUPS, file.num_row_groups))
            yield from file.iter_batches(
                BATCH, row_groups=list(some), columns=columns, use_threads=threads > 1
            )


def plan_plain_sums(
    stored: StoredColumns | None, query: Query, pieces: Sequence[Component], bounding: Bounding
) -> PlainSums | None:
    """Return the sums of a query's flat components, or None if the query needs more than sums."""
    flat = {i: piece for i, piece in enumerate(pieces) if piece.form in FLAT}
    if stored is None or query.rows.steps or not query.public or len(query.keys) > 1:
        return None
    if not all(_is_plain(piece, stored, bounding) for piece in flat.values()) or (
        bounding.unit and not _can_weigh(stored, bounding)
    ):
        return None
    if not query.keys:
        return (
            PlainSums(stored, None, (), flat, bounding)
            if bounding.unit or any(piece.of is not None for piece in flat.values())
            else None
        )
    ((key,), (keys,)) = query.keys, query.domains
    if not _is_integer(stored, key) or None in keys:
        return None
    domain = cast("tuple[int, ...]", keys)  # the keys of a column of integers
    if max(domain) - min(domain) >= MOST_PLACES:
        return None
    return PlainSums(stored, key, domain, flat, bounding)


def _is_integer(stored: StoredColumns, column: str) -> bool:
    return stored.columns.get(column, "").startswith("int")


def _can_weigh(stored: StoredColumns, bounding: Bounding) -> bool:
    """Whether the number of rows of a unit determines their weight, and the unit is a stored
    integer.
    """
    return (
        len(bounding.unit) == 1
        and _is_integer(stored, bounding.unit[0])
        and not bounding.truncation
        and bounding.rule != "root"
    )


def _is_plain(piece: Component, stored: StoredColumns, bounding: Bounding) -> bool:
    """Whether a component sums a stored column or counts rows, and the sums of a part fit into
    doubles, if need be in two halves.
    """
    bits = piece.largest.bit_length()
    if not fits(bits, bounding) or _part_bits(piece, bounding) > NARROW:
        return False
    if piece.where is not None:
        return False
    if piece.form == "product":
        return all(_is_plain(factor.column, stored, bounding) for factor in piece.factors)
    if piece.of is None:
        return piece.form == "one"
    if _column_name(piece) not in stored.columns:
        return False
    grid = piece.grid
    return piece.form == "one" or (
        grid is not None and not grid.scale and 2 * (grid.high - grid.low).bit_length() <= EXACT
    )


def _part_bits(piece: Component, bounding: Bounding) -> int:
    """Return the bits of the largest sum over the rows of a part."""
    return (PART - 1).bit_length() + bounding.bits + piece.largest.bit_length()


def _footer_range(part: pq.RowGroupMetaData, column: str | None) -> list[int] | None:
    """Return the least and the largest value of a row group from its footer, [] if it has no value,
    None if the footer does not state them.
    """
    if not part.num_rows:
        return []
    for i in range(part.num_columns):
        column_chunk = part.column(i)
        if column_chunk.path_in_schema == column:
            stated = column_chunk.statistics
            if stated is None or not (
                stated.has_min_max or (stated.has_null_count and stated.null_count == part.num_rows)
            ):
                return None
            return [stated.min, stated.max] if stated.has_min_max else []
    return None


def _column_name(piece: Component) -> str | None:
    """Return the name of a component's column; None if it has none, or computes something."""
    return piece.of.name if isinstance(piece.of, ColumnRef) else None


def _read_ahead(
    batches: Iterator[pa.RecordBatch], *, apart: bool
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the batches; with `apart`, a thread reads the next ones meanwhile."""
    if not apart:
        yield from batches
        return
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, batches, None) for _ in range(AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, batches, None))
            yield batch


class _Totals:
    """Sums that grow batch by batch: by name, one for each public key, and a last one for all other
    keys.
    """

    def __init__(self, sums: PlainSums, find: Find | None, weights: Weights | None) -> None:
        self._key, self._unit, self._names, self._size = (
            sums.key,
            sums.unit,
            sums.columns,
            len(sums.domain) + 1,
        )
        self._find, self._weights, self._buffers = find, weights, Buffers()
        self.sums = {
            f"s{place}_{i}": np.zeros(self._size, np.int64)
            for place, piece in sums.pieces.items()
            for i in range(piece.cells)
        }
        wide = {
            place for place, piece in sums.pieces.items() if sums.bounding.sum_bits(piece) > NARROW
        }
        largest = max((_part_bits(sums.pieces[place], sums.bounding) for place in wide), default=0)
        self._parts = 1 << max(0, NARROW - largest)  # that 64 bits hold together
        self._wide = {
            name: np.zeros(self._size, object)
            for name in self.sums
            if int(name[1:].partition("_")[0]) in wide
        }
        self._columns: list[GridColumn] = []  # every column once for each of its grids
        self._pieces: list[tuple[Component, list[GridColumn], list[NDArray[np.int64]]]] = []
        for place, piece in sums.pieces.items():
            sources = [factor.column for factor in piece.factors] or [piece]
            columns = [self._column(each) for each in sources if each.of is not None]
            self._pieces.append(
                (piece, columns, [self.sums[f"s{place}_{i}"] for i in range(piece.cells)])
            )
        unweighed = find is not None and weights is None
        self._first = (
            next((p for p in self._pieces if p[0].form == "value" and is_narrow(p[0])), None)
            if unweighed
            else None
        )

    def _column(self, piece: Component) -> GridColumn:
        """Return the column of a component, on its grid: the same one for equal ones."""
        name = _column_name(piece)
        assert name is not None
        for column in self._columns:
            if (column.name, column.grid) == (name, piece.grid):
                return column
        self._columns.append(GridColumn(name, piece.grid, self._buffers))
        return self._columns[-1]

    def add(self, batch: pa.RecordBatch) -> None:
        numbers = {name: numbers_of(batch.column(name)) for name in self._names}
        for i, part in enumerate(parts(batch.num_rows), 1):
            self._add(
                {name: part_of(values, part) for name, values in numbers.items()},
                part.stop - part.start,
            )
            if i % self._parts == 0 or part.stop == batch.num_rows:
                for name, sums in self._wide.items():
                    np.add(sums, self.sums[name], out=sums)
                    self.sums[name][:] = 0

    def by_name(self) -> dict[str, Integers]:
        """Return all sums by name; those that may need more than 62 bits are Python integers."""
        return self.sums | self._wide

    def _add(self, numbers: dict[str, MaskedNumbers], count: int) -> None:
        """Add the rows of a part."""
        self._buffers.begin()
        at = (
            None
            if self._find is None or self._key is None
            else self._find(*numbers[self._key], self._buffers)
        )
        weights = (
            None
            if self._weights is None or self._unit is None
            else self._weights.of(*numbers[self._unit], self._buffers)
        )
        rows = WeighedRows(at, weights, count, self._size)
        for column in self._columns:
            column.read(*numbers[column.name])
        done = None
        if self._first is not None and self._first[1][0].missing is None:
            done = self._first
            done[2][0] += rows.sum_and_count(done[1][0].addends(done[0]), done[0], self._buffers)
        for entry in self._pieces:
            if entry is not done:
                for sums, cell in zip(entry[2], cells_of(rows, *entry[:2]), strict=True):
                    np.add(sums, cell, out=sums)
