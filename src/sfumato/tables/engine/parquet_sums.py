"""Sums over columns of Parquet files as they lie there: by one whole-number key that is public, or
over all rows. Arrow reads them, NumPy adds.

*Same*      The integers of every row are those of `grids`, by the same two additions of doubles,
            its weight is that of `bounding`, and so the sums are the same: exact, in any order. The
            statement in SQL says what is computed; tests hold one against the other.
*Units*     that are whole numbers have their rows counted in an array, from the least to the
            largest of them; then the rows are read again, and weighed.
*Once*      Each file is opened once for both readings, and for its footer: were it replaced in
            between, the rows would still be those that were counted.
*Why*       An addition takes DuckDB five times as long as NumPy, and a question like this has
            little else to do. But NumPy adds in one thread, while others read: where there are more
            than a few of them, DuckDB is quicker after all.
*When*      The question decides: sums and counts of stored columns, without conditions, computed
            columns or joins; and of units the range that the footers of the files state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..expr.expressions import Column as Name
from ..plan.bounding import EXACT, NARROW, Bounding
from ..plan.components import FLAT, Piece
from ..query.stages import Query
from . import numpy_sums
from .arrow_arrays import array
from .numpy_sums import (
    Column,
    Find,
    Found,
    Room,
    Rows,
    Untrue,
    Weights,
    cells_of,
    finder,
    fits,
    narrow,
    numbers_of,
    part_of,
    parts,
)

STORED = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "FLOAT": "float",
    "DOUBLE": "double",
}
"""DuckDB's names of the types that are read, and Arrow's."""

FEW_THREADS = 4
BATCH = 1 << 18  # rows that are read at a time
BUFFER = 1 << 16  # bytes of a file that are read at a time
GROUPS = 4  # parts of a file that are read at a time
MOST_FILES = 256  # that are open at a time: a process may often have no more than 1,024
AHEAD = 2  # batches that are read while one is added
MOST_PLACES = 1 << 20  # from the least to the largest key
MOST_UNITS = 1 << 26  # and unit
MOST_ROWS = numpy_sums.MOST_COUNTED  # with units


class Stopped(Exception):
    """The time was up."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Parquet files, the names of their columns, and the numbers in them that are read as they are:
    column → Arrow's name of its type.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class PlainSums:
    """Which sums: the key with its public values, the pieces by their places, and how units are
    bounded.
    """

    stored: Stored
    key: str | None
    domain: tuple[int, ...]
    pieces: Mapping[int, Piece]
    bounding: Bounding

    @property
    def unit(self) -> str | None:
        return self.bounding.unit[0] if self.bounding.unit else None

    @property
    def owners(self) -> list[str]:
        """What says whose a row is, and whether it counts."""
        return list(dict.fromkeys(name for name in (self.unit, self.key) if name is not None))

    @property
    def columns(self) -> list[str]:
        """What is read."""
        return list(
            dict.fromkeys(
                [
                    *self.owners,
                    *(name for name in map(_name, self.pieces.values()) if name is not None),
                ]
            )
        )

    def readable(self, files: Sequence[Any]) -> bool:
        """Whether Arrow reads the columns as the types that DuckDB named: what a writer noted
        beside the data may tell it otherwise. And whether the units are near enough to each other
        for an array.
        """
        schemas = [file.schema_arrow for file in files]
        if not all(
            tuple(schema.names) == self.stored.names for schema in schemas
        ):  # DuckDB gives names of its own to those that it finds alike
            return False
        if not all(
            str(schema.field(name).type) == self.stored.columns[name]
            for schema in schemas
            for name in self.columns
        ):
            return False
        return self.unit is None or self._range(files) is not None

    @contextmanager
    def opened(self) -> Iterator[list[Any]]:
        """The files, open."""
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            yield [
                stack.enter_context(pq.ParquetFile(path, buffer_size=BUFFER))
                for path in self.stored.paths
            ]

    def attempt(self, schema: Any, threads: int, stopped: Callable[[], bool]) -> Any:
        """What the statement gives that has this schema; None where an engine has to be asked.
        Secret.
        """
        if len(self.stored.paths) > MOST_FILES:
            return None
        try:
            with (
                self.opened() as files,
                np.errstate(all="ignore"),
            ):  # a warning would be about the data
                return self.table(files, schema, threads, stopped) if self.readable(files) else None
        except Stopped:
            raise
        except Exception:  # what Arrow cannot read DuckDB may
            return None

    def table(
        self, files: Sequence[Any], schema: Any, threads: int, stopped: Callable[[], bool]
    ) -> Any:
        """The same of open files, with a line for every public key."""
        import pyarrow as pa

        find = finder(self.domain) if self.domain else None
        weights = None if self.unit is None else self._weights(files, find, threads, stopped)
        adding = _Adding(self, find, weights)
        with closing(self._batches(files, self.columns, threads, stopped)) as batches:
            for batch in batches:
                adding.add(batch)
        keys = {} if self.key is None else {"k0": array(self.domain, schema["k0"].to_pyarrow())}
        lines = len(self.domain) or 1
        return pa.table(
            keys
            | {
                name: array(sums[:lines].tolist(), schema[name].to_pyarrow())
                for name, sums in adding.whole().items()
            }
        )

    def _weights(
        self, files: Sequence[Any], find: Find | None, threads: int, stopped: Callable[[], bool]
    ) -> Weights:
        """The weight of every unit, by the rows that it has among the public keys."""
        ends = self._range(files)
        assert ends is not None
        assert self.unit is not None
        weights = Weights(*ends, self.bounding)
        room = Room()
        with closing(self._batches(files, self.owners, threads, stopped)) as batches:
            for batch in batches:
                found = {name: numbers_of(batch.column(name)) for name in self.owners}
                for part in parts(batch.num_rows):
                    room.begin()
                    counted = (
                        None
                        if find is None or self.key is None
                        else find(*part_of(found[self.key], part), room) < len(self.domain)
                    )
                    weights.count(*part_of(found[self.unit], part), counted, room)
        weights.weigh()
        return weights

    def _range(self, files: Sequence[Any]) -> tuple[int, int] | None:
        """The least and the largest unit, as far as the footers state them; None where these are
        too far apart, or not stated.
        """
        ends: list[int] = []
        for file in files:
            footer = file.metadata
            for part in range(footer.num_row_groups):
                stated = _stated(footer.row_group(part), self.unit)
                if stated is None:
                    return None
                ends += stated
        low, high = min(ends, default=0), max(ends, default=0)
        return (low, high) if high - low < MOST_UNITS else None

    def _batches(
        self, files: Sequence[Any], columns: list[str], threads: int, stopped: Callable[[], bool]
    ) -> Generator[Any, None, None]:
        """Rows, until the time is up; the next ones are read while some are used. To be closed
        before the files are: a thread may still be reading.
        """
        rows = 0
        with closing(_ahead(_read(files, columns, threads), apart=threads > 1)) as ahead:
            for batch in ahead:
                rows += batch.num_rows
                if stopped():
                    raise Stopped
                if rows > self.bounding.table_rows or (self.unit is not None and rows > MOST_ROWS):
                    raise Untrue
                yield batch


def _read(files: Sequence[Any], columns: list[str], threads: int) -> Iterator[Any]:
    for file in files:
        for first in range(
            0, file.num_row_groups, GROUPS
        ):  # not all at once: Arrow keeps what it has read of them
            some = range(first, min(first + GROUPS, file.num_row_groups))
            yield from file.iter_batches(
                BATCH, row_groups=list(some), columns=columns, use_threads=threads > 1
            )


def plain_sums(
    stored: Stored | None, query: Query, pieces: Sequence[Piece], bounding: Bounding
) -> PlainSums | None:
    """The sums of a query's flat pieces, where that is all it asks for."""
    flat = {i: piece for i, piece in enumerate(pieces) if piece.form in FLAT}
    if stored is None or query.rows.steps or not query.public or len(query.keys) > 1:
        return None
    if not all(_plain(piece, stored, bounding) for piece in flat.values()) or (
        bounding.unit and not _weighable(stored, bounding)
    ):
        return None
    if not query.keys:
        return (
            PlainSums(stored, None, (), flat, bounding)
            if bounding.unit or any(piece.of is not None for piece in flat.values())
            else None
        )
    ((key,), (domain,)) = query.keys, query.domains
    if not _whole(stored, key) or None in domain or max(domain) - min(domain) >= MOST_PLACES:  # type: ignore[type-var, operator]
        return None
    return PlainSums(stored, key, domain, flat, bounding)  # type: ignore[arg-type]  # the keys of a column of integers


def _whole(stored: Stored, column: str) -> bool:
    return stored.columns.get(column, "").startswith("int")


def _weighable(stored: Stored, bounding: Bounding) -> bool:
    """Whether a row's weight follows from the number of rows that its unit has, and the unit is a
    stored whole number.
    """
    return (
        len(bounding.unit) == 1
        and _whole(stored, bounding.unit[0])
        and not bounding.truncation
        and (bounding.norm == "L1" or not bounding.grouped)
    )


def _plain(piece: Piece, stored: Stored, bounding: Bounding) -> bool:
    """Whether the integers of a piece are those of a stored column, or of nothing, and their sums
    fit: of a part in doubles, if need be in two halves.
    """
    bits = piece.largest.bit_length()
    if not fits(bits, bounding) or BATCH.bit_length() + bounding.bits + bits > NARROW:
        return False
    if piece.where is not None:
        return False
    if piece.of is None:
        return piece.form == "one"
    if _name(piece) not in stored.columns:
        return False
    grid = piece.grid
    return piece.form == "one" or (
        grid is not None and not grid.scale and 2 * (grid.high - grid.low).bit_length() <= EXACT
    )


def _stated(part: Any, column: str | None) -> list[int] | None:
    """The least and the largest value of a part of a file, as its footer states them, or nothing
    where there is no value; None where nothing is stated.
    """
    if not part.num_rows:
        return []
    for i in range(part.num_columns):
        one = part.column(i)
        if one.path_in_schema == column:
            stated = one.statistics
            if stated is None or not (
                stated.has_min_max or (stated.has_null_count and stated.null_count == part.num_rows)
            ):
                return None
            return [stated.min, stated.max] if stated.has_min_max else []
    return None


def _name(piece: Piece) -> str | None:
    """The column that a piece is of; None where it is of nothing, or of something computed."""
    return piece.of.name if isinstance(piece.of, Name) else None


def _ahead(batches: Iterator[Any], *, apart: bool) -> Generator[Any, None, None]:
    """The same; a thread apart reads the next ones while one is used."""
    if not apart:
        yield from batches
        return
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, batches, None) for _ in range(AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, batches, None))
            yield batch


class _Adding:
    """Sums that grow, batch by batch: by name, one for each public key, and last that of all other
    keys.
    """

    def __init__(self, asked: PlainSums, find: Find | None, weights: Weights | None) -> None:
        self._key, self._unit, self._names, self._size = (
            asked.key,
            asked.unit,
            asked.columns,
            len(asked.domain) + 1,
        )
        self._find, self._weights, self._room = find, weights, Room()
        self.sums = {
            f"s{place}_{i}": np.zeros(self._size, np.int64)
            for place, piece in asked.pieces.items()
            for i in range(piece.cells)
        }
        wide = {
            place
            for place, piece in asked.pieces.items()
            if asked.bounding.sum_bits(piece) > NARROW
        }
        self._wide = {
            name: np.zeros(self._size, object)
            for name in self.sums
            if int(name[1:].partition("_")[0]) in wide
        }
        self._columns: list[Column] = []  # every column once for each of its grids
        self._pieces: list[tuple[Piece, Column | None, list[NDArray[np.int64]]]] = []
        for place, piece in asked.pieces.items():
            column, name = None, _name(piece)
            if name is not None:
                column = next(
                    (one for one in self._columns if (one.name, one.grid) == (name, piece.grid)),
                    None,
                )
                if column is None:
                    column = Column(name, piece.grid, self._room)
                    self._columns.append(column)
            self._pieces.append(
                (piece, column, [self.sums[f"s{place}_{i}"] for i in range(piece.cells)])
            )
        unweighed = find is not None and weights is None
        self._first = (
            next((one for one in self._pieces if one[0].form == "value" and narrow(one[0])), None)
            if unweighed
            else None
        )

    def add(self, batch: Any) -> None:
        found = {name: numbers_of(batch.column(name)) for name in self._names}
        for part in parts(batch.num_rows):
            self._add(
                {name: part_of(one, part) for name, one in found.items()}, part.stop - part.start
            )
        for name, sums in self._wide.items():
            np.add(sums, self.sums[name], out=sums)
            self.sums[name][:] = 0

    def whole(self) -> dict[str, NDArray[Any]]:
        """All sums; of those that may need more than 62 bits, Python's integers."""
        return self.sums | self._wide

    def _add(self, found: dict[str, Found], count: int) -> None:
        """The rows of a part."""
        self._room.begin()
        at = (
            None
            if self._find is None or self._key is None
            else self._find(*found[self._key], self._room)
        )
        weights = (
            None
            if self._weights is None or self._unit is None
            else self._weights.of(*found[self._unit], self._room)
        )
        rows = Rows(at, weights, count, self._size)
        for column in self._columns:
            column.read(*found[column.name])
        done = None
        if self._first is not None and (of := self._first[1]) is not None and of.missing is None:
            done = self._first
            done[2][0] += rows.both(of.measured(done[0]), done[0], self._room)
        for one in self._pieces:
            if one is not done:
                for sums, cell in zip(one[2], cells_of(rows, *one[:2]), strict=True):
                    np.add(sums, cell, out=sums)
