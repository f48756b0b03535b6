"""Sums over columns of Parquet files as they lie there: by one whole-number key that is public, or over all rows. Arrow reads them, NumPy adds.

*Same*      The integers of every row are those of `grids`, by the same two additions of doubles, and so are the sums: exact, in any order. The statement in
            SQL says what is computed; tests hold one against the other.
*Why*       An addition takes DuckDB five times as long as NumPy, and a question like this has little else to do. But NumPy adds in one thread, while others
            read: where there are more than a few of them, DuckDB is quicker after all.
*When*      The question alone decides: sums and counts of stored columns, without conditions, computed columns, joins or units. Whatever is said of the files
            stands in their footers.
"""

from __future__ import annotations

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

STORED = {"TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64", "FLOAT": "float", "DOUBLE": "double"}
"""DuckDB's names of the types that are read, and Arrow's."""

FORMS = ("one", "value", "centred", "square", "side")
FEW_THREADS = 4
BATCH = 1 << 18  # rows at a time
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
            with pq.ParquetFile(path) as file:
                yield from file.iter_batches(BATCH, columns=self.columns, use_threads=threads > 1)


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
    if piece.where is not None or bounding.sum_bits(piece) > _NARROW or piece.largest.bit_length() + BATCH.bit_length() > _EXACT:
        return False
    if piece.of is None:
        return piece.form == "one"
    if _name(piece) not in stored.columns:
        return False
    grid = piece.grid
    return piece.form == "one" or (grid is not None and not grid.scale and 2 * (grid.high - grid.low).bit_length() <= _EXACT)


def _name(piece: Piece) -> str | None:
    """The column that a piece is of; None where it is of nothing, or of something computed."""
    return piece.of.name if isinstance(piece.of, Name) else None


def _ahead(batches: Iterator[Any], *, apart: bool) -> Iterator[Any]:
    """The same; each is read by a thread apart while the one before it is used."""
    if not apart:
        yield from batches
        return
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


class _Adding:
    """Sums that grow, batch by batch: by name, one for each public key, and last that of all other keys."""

    def __init__(self, asked: PlainSums) -> None:
        self._asked, self._size, self._room = asked, len(asked.domain) + 1, _Room()
        self._find = _finder(asked.domain) if asked.domain else None
        self.sums = {f"s{place}_{i}": np.zeros(self._size, np.int64) for place, piece in asked.pieces.items() for i in range(piece.cells)}

    def add(self, batch: Any) -> None:
        self._room.begin()
        at = None if self._find is None else self._find(batch.column(self._asked.key), self._room)
        rows = self._counted(at, batch.num_rows)
        columns: dict[Any, _Column] = {}
        for place, piece in self._asked.pieces.items():
            name = _name(piece)
            if name is None:
                self.sums[f"s{place}_0"] += rows
                continue
            if (name, piece.grid) not in columns:
                columns[name, piece.grid] = _Column(batch.column(name), piece.grid, self._room)
            column = columns[name, piece.grid]
            if piece.form in ("one", "side"):
                there = rows if column.missing is None else self._counted(at, ~column.missing)
                cells = [there] if piece.form == "one" else [self._counted(at, column.below), there, self._counted(at, column.above)]
                for i, cell in enumerate(cells):
                    self.sums[f"s{place}_{i}"] += cell
            else:
                self.sums[f"s{place}_0"] += self._added(at, column.measured(piece))

    def _counted(self, at: Places | None, rows: int | Mask | None) -> Any:
        """How many rows every place has: of that many, or of those that a mask names, which may be none."""
        if rows is None:
            return 0
        if at is None:
            return rows if isinstance(rows, int) else np.count_nonzero(rows)
        return np.bincount(at if isinstance(rows, int) else at[rows], minlength=self._size)

    def _added(self, at: Places | None, numbers: Floats) -> Any:
        """What the numbers of every place come to: whole ones below 2^53, in any order."""
        return int(numbers.sum()) if at is None else np.bincount(at, numbers, self._size).astype(np.int64)


class _Room:
    """Memory for the numbers of a batch, used again for the next: to ask the system for it each time takes longer than to add."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.uint64]] = []
        self._used = 0

    def begin(self) -> None:
        self._used = 0

    def array(self, like: type[np.float64 | np.intp], count: int) -> NDArray[Any]:
        if self._used == len(self._arrays):
            self._arrays.append(np.empty(BATCH, np.uint64))
        self._used += 1
        return self._arrays[self._used - 1][:count].view(like)


class _Column:
    """A batch of a column: the integers of its rows, and which of these have no value or lie outside. None stands for no row at all."""

    def __init__(self, values: Any, grid: Grid | None, room: _Room) -> None:
        numbers, self.missing = _numbers(values)
        floating = numbers.dtype.kind == "f" or (grid is not None and grid.floating)
        numbers = numbers.astype(np.float64 if floating else np.int64, copy=False)
        self.below: Mask | None = None
        self.above: Mask | None = None
        if grid is not None and _between(numbers, *grid.ends):  # so there is no NaN
            self._integers: Floats = grid.rounded(numbers, room.array(np.float64, len(numbers)))
            return
        if floating and (absent := np.isnan(numbers)).any():
            self.missing = absent if self.missing is None else absent | self.missing
        if grid is not None:
            low, high = grid.ends
            present = True if self.missing is None else ~self.missing
            self.below, self.above = (numbers < low) & present, (numbers > high) & present
            self._integers = grid.rounded(np.clip(numbers, low, high), room.array(np.float64, len(numbers)))

    def measured(self, piece: Piece) -> Floats:
        """What the rows add, whole numbers in doubles; nothing where there is no value, unless it is taken for the lower end."""
        grid, found = piece.grid, self._integers
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


def _numbers(values: Any) -> tuple[NDArray[Any], Mask | None]:
    """An Arrow array as NumPy has it, with anything in place of nulls; and where these are."""
    valid, data = values.buffers()
    kind = np.dtype(values.type.to_pandas_dtype())
    numbers = np.frombuffer(data, kind, len(values), values.offset * kind.itemsize) if len(values) else np.empty(0, kind)
    if not values.null_count:
        return numbers, None
    there = np.unpackbits(np.frombuffer(valid, np.uint8), count=values.offset + len(values), bitorder="little")[values.offset :]
    return numbers, there == 0


def _finder(domain: tuple[int, ...]) -> Callable[[Any, _Room], Places]:
    """The place of every key among the public ones, and one beyond them for all others."""
    low, high = min(domain), max(domain)
    places: Places | None = None
    if domain != tuple(range(low, high + 1)):
        places = np.full(high - low + 2, len(domain), np.intp)
        places[np.array(domain) - low] = np.arange(len(domain))

    def find(values: Any, room: _Room) -> Places:
        keys, missing = _numbers(values)
        at: Places = room.array(np.intp, len(keys))
        if missing is None and _between(keys, low, high):
            np.subtract(keys, low, out=at)
        else:
            known = (keys >= low) & (keys <= high)
            at[:] = high - low + 1
            np.subtract(keys.astype(np.intp), low, out=at, where=known if missing is None else known & ~missing)
        return at if places is None else places[at]

    return find
