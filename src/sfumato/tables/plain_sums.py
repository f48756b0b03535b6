"""Sums over columns of Parquet files as they lie there: by one whole-number key that is public, or over all rows. Arrow reads them, NumPy adds.

*Same*      The integers of every row are those of `grids`, by the same two additions of doubles, and so are the sums: exact, in any order. The statement in
            SQL says what is computed; tests hold one against the other.
*Why*       An addition takes DuckDB five times as long as NumPy, and a question like this has little else to do. But NumPy adds in one thread, while others
            read: where there are more than a few of them, DuckDB is quicker after all.
*When*      The question alone decides: sums and counts of stored columns, without conditions, computed columns, joins or units. Whatever is said of the files
            stands in their footers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow_arrays import array
from .bounding import Bounding
from .expressions import Column as Name
from .grids import Grid
from .pieces import Piece
from .stages import Query

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Found = tuple[NDArray[Any], Mask | None]
"""Numbers, and which of them are none."""

STORED = {"TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64", "FLOAT": "float", "DOUBLE": "double"}
"""DuckDB's names of the types that are read, and Arrow's."""

FORMS = ("one", "value", "centred", "square", "side")
FEW_THREADS = 4
BATCH = 1 << 18  # rows that are read at a time
PART = 1 << 15  # rows that are added at a time: their numbers stay in the cache of a core
BUFFER = 1 << 16  # bytes of a file that are read at a time
GROUPS = 4  # parts of a file that are read at a time
AHEAD = 2  # batches that are read while one is added
MOST_PLACES = 1 << 20  # from the least to the largest key
_NARROW, _EXACT = 62, 53  # bits of a sum, and of whole numbers that doubles hold


class Stopped(Exception):
    """The time was up."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Parquet files, and the numbers in them that are read as they are: column → Arrow's name of its type."""

    paths: tuple[str, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class PlainSums:
    """Which sums: the key with its public values, and the pieces by their places."""

    stored: Stored
    key: str | None
    domain: tuple[int, ...]
    pieces: Mapping[int, Piece]

    @property
    def columns(self) -> list[str]:
        """What is read."""
        return list(dict.fromkeys(name for name in (self.key, *map(_name, self.pieces.values())) if name is not None))

    def readable(self) -> bool:
        """Whether Arrow reads the columns as the types that DuckDB named: what a writer noted beside the data may tell it otherwise."""
        import pyarrow.parquet as pq

        schemas = [pq.read_schema(path) for path in self.stored.paths]
        return all(str(schema.field(name).type) == self.stored.columns[name] for schema in schemas for name in self.columns)

    def table(self, schema: Any, threads: int, stopped: Callable[[], bool]) -> Any:
        """What the statement gives that has this schema, with a line for every public key. Secret."""
        import pyarrow as pa

        adding = _Adding(self)
        for batch in _ahead(self._batches(threads), apart=threads > 1):
            if stopped():
                raise Stopped
            adding.add(batch)
        keys = {} if self.key is None else {"k0": array(self.domain, schema["k0"].to_pyarrow())}
        return pa.table(keys | {name: array(sums[: len(self.domain) or 1].tolist(), pa.int64()) for name, sums in adding.sums.items()})

    def _batches(self, threads: int) -> Iterator[Any]:
        import pyarrow.parquet as pq

        for path in self.stored.paths:
            with pq.ParquetFile(path, buffer_size=BUFFER) as file:
                for first in range(0, file.num_row_groups, GROUPS):  # not all at once: Arrow keeps what it has read of them
                    some = range(first, min(first + GROUPS, file.num_row_groups))
                    yield from file.iter_batches(BATCH, row_groups=list(some), columns=self.columns, use_threads=threads > 1)


def plain_sums(stored: Stored | None, query: Query, pieces: Sequence[Piece], bounding: Bounding) -> PlainSums | None:
    """The sums of a query's flat pieces, where that is all it asks for."""
    flat = {i: piece for i, piece in enumerate(pieces) if piece.form in FORMS}
    if stored is None or bounding.unit or query.rows.steps or not query.public or len(query.keys) > 1:
        return None
    if not all(_plain(piece, stored, bounding) for piece in flat.values()):
        return None
    if not query.keys:
        return PlainSums(stored, None, (), flat) if any(piece.of is not None for piece in flat.values()) else None
    ((key,), (domain,)) = query.keys, query.domains
    if not stored.columns.get(key, "").startswith("int") or None in domain or max(domain) - min(domain) >= MOST_PLACES:  # type: ignore[type-var, operator]
        return None
    return PlainSums(stored, key, domain, flat)  # type: ignore[arg-type]  # the keys of a column of integers


def _plain(piece: Piece, stored: Stored, bounding: Bounding) -> bool:
    """Whether the integers of a piece are those of a stored column, or of nothing, and their sums fit."""
    if piece.where is not None or bounding.sum_bits(piece) > _NARROW or piece.largest.bit_length() + PART.bit_length() > _EXACT:
        return False
    if piece.of is None:
        return piece.form == "one"
    if _name(piece) not in stored.columns:
        return False
    grid = piece.grid
    return piece.form == "one" or (grid is not None and not grid.scale and 2 * (grid.high - grid.low).bit_length() <= _EXACT)


def _narrow(piece: Piece) -> bool:
    """Whether doubles have room for the sum of a piece and for the number of rows."""
    return (piece.high - piece.low).bit_length() + 2 * PART.bit_length() + 1 <= _EXACT


def _name(piece: Piece) -> str | None:
    """The column that a piece is of; None where it is of nothing, or of something computed."""
    return piece.of.name if isinstance(piece.of, Name) else None


def _ahead(batches: Iterator[Any], *, apart: bool) -> Iterator[Any]:
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
    """Sums that grow, batch by batch: by name, one for each public key, and last that of all other keys."""

    def __init__(self, asked: PlainSums) -> None:
        self._key, self._names, self._size, self._room = asked.key, asked.columns, len(asked.domain) + 1, _Room()
        self._find = _finder(asked.domain) if asked.domain else None
        self.sums = {f"s{place}_{i}": np.zeros(self._size, np.int64) for place, piece in asked.pieces.items() for i in range(piece.cells)}
        self._columns: list[_Column] = []  # every column once for each of its grids
        self._pieces: list[tuple[Piece, _Column | None, list[NDArray[np.int64]]]] = []
        for place, piece in asked.pieces.items():
            column, name = None, _name(piece)
            if name is not None:
                column = next((one for one in self._columns if (one.name, one.grid) == (name, piece.grid)), None)
                if column is None:
                    column = _Column(name, piece.grid, self._room)
                    self._columns.append(column)
            self._pieces.append((piece, column, [self.sums[f"s{place}_{i}"] for i in range(piece.cells)]))
        self._first = next((one for one in self._pieces if one[0].form == "value" and _narrow(one[0])), None)

    def add(self, batch: Any) -> None:
        found = {name: _numbers(batch.column(name)) for name in self._names}
        for start in range(0, batch.num_rows, PART):
            part = slice(start, start + PART)
            here = {name: (numbers[part], None if missing is None else missing[part]) for name, (numbers, missing) in found.items()}
            self._add(here, min(PART, batch.num_rows - start))

    def _add(self, found: dict[str, Found], count: int) -> None:
        """The rows of a part."""
        self._room.begin()
        at = None if self._find is None or self._key is None else self._find(*found[self._key], self._room)
        for column in self._columns:
            column.read(*found[column.name])
        rows: Any = None
        if at is not None and self._first is not None:
            piece, first, (sums,) = self._first
            if first is not None and first.missing is None:
                rows, added = self._both(at, first.measured(piece), piece)
                sums += added
        by_both = rows is not None
        rows = rows if by_both else self._counted(at, count)
        for one in self._pieces:
            if not (by_both and one is self._first):
                for sums, cell in zip(one[2], self._cells(at, rows, *one[:2]), strict=True):
                    np.add(sums, cell, out=sums)

    def _cells(self, at: Places | None, rows: Any, piece: Piece, column: _Column | None) -> list[Any]:
        """What these rows add to the cells of a piece."""
        if column is None:
            return [rows]
        if piece.form not in ("one", "side"):
            numbers = column.measured(piece)
            return [int(numbers.sum()) if at is None else np.bincount(at, numbers, self._size).astype(np.int64)]
        there = rows if column.missing is None else self._counted(at, ~column.missing)
        return [there] if piece.form == "one" else [self._counted(at, column.below), there, self._counted(at, column.above)]

    def _counted(self, at: Places | None, rows: int | Mask | None) -> Any:
        """How many rows every place has: of that many, or of those that a mask names, which may be none."""
        if rows is None:
            return 0
        if at is None:
            return rows if isinstance(rows, int) else np.count_nonzero(rows)
        return np.bincount(at if isinstance(rows, int) else at[rows], minlength=self._size)

    def _both(self, at: Places, numbers: Floats, piece: Piece) -> tuple[Any, Any]:
        """How many rows every place has and what they come to, by one sum: each adds a constant beside its number, larger than all numbers together."""
        constant = 1 << (piece.high - piece.low).bit_length() + PART.bit_length()
        packed = np.bincount(at, np.add(numbers, constant - piece.low, out=self._room.array(np.float64, len(numbers))), self._size).astype(np.int64)
        rows = packed // constant
        return rows, packed - rows * (constant - piece.low)


class _Room:
    """Memory for the numbers of a batch, used again for the next: to ask the system for it each time takes longer than to add."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.uint64]] = []
        self._used = 0

    def begin(self) -> None:
        self._used = 0

    def array(self, like: type[np.float64 | np.intp], count: int) -> NDArray[Any]:
        if self._used == len(self._arrays):
            self._arrays.append(np.empty(PART, np.uint64))
        self._used += 1
        return self._arrays[self._used - 1][:count].view(like)


class _Column:
    """A column on a grid, part by part: the integers of its rows, and which of these have no value or lie outside. None stands for no row at all."""

    def __init__(self, name: str, grid: Grid | None, room: _Room) -> None:
        self.name, self.grid, self._room = name, grid, room
        self._ends = None if grid is None else grid.ends
        self._rounded = None if grid is None else grid.rounding()
        self.missing: Mask | None = None
        self.below: Mask | None = None
        self.above: Mask | None = None
        self._integers: Floats = np.empty(0)

    def read(self, numbers: NDArray[Any], missing: Mask | None) -> None:
        """Take the next part."""
        self.missing, self.below, self.above = missing, None, None
        floating = numbers.dtype.kind == "f" or (self.grid is not None and self.grid.floating)
        numbers = numbers.astype(np.float64 if floating else np.int64, copy=False)
        if self._ends is not None and _between(numbers, *self._ends):  # so there is no NaN
            self._round(numbers)
            return
        if floating and (absent := np.isnan(numbers)).any():
            self.missing = absent if missing is None else absent | missing
        if self._ends is not None:
            low, high = self._ends
            present = True if self.missing is None else ~self.missing
            self.below, self.above = (numbers < low) & present, (numbers > high) & present
            self._round(np.clip(numbers, low, high))

    def _round(self, numbers: NDArray[Any]) -> None:
        assert self._rounded is not None
        self._integers = self._rounded(numbers, self._room.array(np.float64, len(numbers)))

    def measured(self, piece: Piece) -> Floats:
        """What the rows add, whole numbers in doubles; nothing where there is no value, unless it is taken for the lower end."""
        grid, found = self.grid, self._integers
        assert grid is not None
        if self.missing is not None and piece.filled:
            found = np.where(self.missing, float(grid.low), found)
        if piece.form != "value":
            found = found - grid.centre
        if piece.form == "square":
            found = found * found
            found = np.floor((found + (1 << piece.shift >> 1)) * 0.5**piece.shift) if piece.shift else found
        return found if self.missing is None or piece.filled else np.where(self.missing, 0.0, found)


def _between(numbers: NDArray[Any], low: float, high: float) -> bool:
    """Whether all of them are; no NaN is."""
    return bool(len(numbers) and low <= numbers.min() and numbers.max() <= high)


def _numbers(values: Any) -> Found:
    """An Arrow array as NumPy has it, with anything in place of nulls; and where these are."""
    valid, data = values.buffers()
    kind = np.dtype(values.type.to_pandas_dtype())
    numbers = np.frombuffer(data, kind, len(values), values.offset * kind.itemsize) if len(values) else np.empty(0, kind)
    if not values.null_count:
        return numbers, None
    there = np.unpackbits(np.frombuffer(valid, np.uint8), count=values.offset + len(values), bitorder="little")[values.offset :]
    return numbers, there == 0


def _finder(domain: tuple[int, ...]) -> Callable[[NDArray[Any], Mask | None, _Room], Places]:
    """The place of every key among the public ones, and one beyond them for all others."""
    low, high = min(domain), max(domain)
    places: Places | None = None
    if domain != tuple(range(low, high + 1)):
        places = np.full(high - low + 2, len(domain), np.intp)
        places[np.array(domain) - low] = np.arange(len(domain))

    def find(keys: NDArray[Any], missing: Mask | None, room: _Room) -> Places:
        at: Places = room.array(np.intp, len(keys))
        if missing is None and _between(keys, low, high):
            np.subtract(keys, low, out=at)
        else:
            known = (keys >= low) & (keys <= high)
            at[:] = high - low + 1
            np.subtract(keys.astype(np.intp), low, out=at, where=known if missing is None else known & ~missing)
        return at if places is None else places[at]

    return find
