"""Numbers of Arrow's arrays, added by NumPy: places of keys, weights of units, integers of a
column, and sums that are exact.

*Parts*     A few rows at a time: their numbers stay in the cache of a core, and what they come to
            stays below 2^53, where doubles hold all integers.
*Rare*      Nulls, NaN and values outside are looked for by the least and the largest number of a
            part; where there are none, nothing more is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..expr.grids import Grid
from ..plan.bounding import EXACT, Bounding
from ..plan.components import Piece

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Found = tuple[NDArray[Any], Mask | None]
"""Numbers, and which of them are none."""

PART = 1 << 15  # rows that are added at a time
MOST_COUNTED = (1 << 31) - 1  # rows of a unit: four bytes are kept of each
_ONE = np.int32(1)


class Untrue(Exception):
    """There is something else than was stated: in a file other units than in its footer, more rows
    than were declared or can be counted.
    """


def fits(bits: int, bounding: Bounding) -> bool:
    """Whether doubles hold what the integers of so many bits of a part come to: weighed, in two
    halves.
    """
    return PART.bit_length() + bounding.bits + (bits // 2 + 1 if bounding.unit else bits) <= EXACT


def narrow(piece: Piece) -> bool:
    """Whether they hold the sum of a piece and the number of rows together."""
    return (piece.high - piece.low).bit_length() + 2 * PART.bit_length() + 1 <= EXACT


def parts(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + PART, rows)) for start in range(0, rows, PART))


def part_of(found: Found, part: slice) -> Found:
    numbers, missing = found
    return numbers[part], None if missing is None else missing[part]


class Room:
    """Memory for the numbers of a batch, used again for the next: to ask the system for it each
    time takes longer than to add.
    """

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


def numbers_of(values: Any) -> Found:
    """An Arrow array as NumPy has it, with anything in place of nulls; and where these are."""
    valid, data = values.buffers()
    kind = np.dtype(values.type.to_pandas_dtype())
    numbers = (
        np.frombuffer(data, kind, len(values), values.offset * kind.itemsize)
        if len(values)
        else np.empty(0, kind)
    )
    if not values.null_count:
        return numbers, None
    there = np.unpackbits(
        np.frombuffer(valid, np.uint8), count=values.offset + len(values), bitorder="little"
    )[values.offset :]
    return numbers, there == 0


def _between(numbers: NDArray[Any], low: float, high: float) -> bool:
    """Whether all of them are; no NaN is."""
    return bool(len(numbers) and low <= numbers.min() and numbers.max() <= high)


Find = Callable[[NDArray[Any], Mask | None, Room], Places]
"""Finds the places of keys."""


def finder(domain: tuple[int, ...]) -> Find:
    """The place of every key among the public ones, and one beyond them for all others."""
    low, high = min(domain), max(domain)
    places: Places | None = None
    if domain != tuple(range(low, high + 1)):
        places = np.full(high - low + 2, len(domain), np.intp)
        places[np.array(domain) - low] = np.arange(len(domain))

    def find(keys: NDArray[Any], missing: Mask | None, room: Room) -> Places:
        at: Places = room.array(np.intp, len(keys))
        if missing is None and _between(keys, low, high):
            np.subtract(
                keys, low, out=at, dtype=np.intp
            )  # in narrow integers the difference could turn over
        else:
            known = (keys >= low) & (keys <= high)
            at[:] = high - low + 1
            np.subtract(
                keys,
                low,
                out=at,
                dtype=np.intp,
                where=known if missing is None else known & ~missing,
            )
        return at if places is None else places[at]

    return find


class Weights:
    """The rows that every unit has; and, when all are counted, what each of them weighs."""

    def __init__(self, low: int, high: int, bounding: Bounding) -> None:
        self._low, self._high, self._bounding = low, high, bounding
        self._units = np.zeros(high - low + 1, np.int32)

    def count(
        self, units: NDArray[Any], missing: Mask | None, counted: Mask | None, room: Room
    ) -> None:
        """Rows of these units, those that are counted."""
        places = self._places(units, missing, room)
        if missing is not None:
            counted = ~missing if counted is None else counted & ~missing
        np.add.at(
            self._units, places if counted is None or counted.all() else places[counted], _ONE
        )

    def weigh(self) -> None:
        """From numbers of rows to weights, which have their place."""
        whole, least = self._bounding.weight, self._bounding.rows
        for start in range(0, len(self._units), PART):
            units = self._units[start : start + PART]
            units[:] = whole // np.maximum(units, least).astype(np.int64)

    def of(self, units: NDArray[Any], missing: Mask | None, room: Room) -> Floats:
        """What rows of these units weigh; nothing where there is no unit."""
        found = np.take(self._units, self._places(units, missing, room), mode="clip")
        weights: Floats = room.array(np.float64, len(units))
        np.copyto(weights, found if missing is None else np.where(missing, 0, found))
        return weights

    def _places(self, units: NDArray[Any], missing: Mask | None, room: Room) -> Places:
        if missing is None and not len(units):
            return np.empty(0, np.intp)
        if missing is not None:
            units = np.where(missing, self._low, units)
        if not _between(units, self._low, self._high):
            raise Untrue
        places: Places = np.subtract(
            units, self._low, out=room.array(np.intp, len(units)), dtype=np.intp
        )
        return places


class Column:
    """A column on a grid, part by part: the integers of its rows, and which of these have no value
    or lie outside. None stands for no row at all.
    """

    def __init__(self, name: str, grid: Grid | None, room: Room) -> None:
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
        """What the rows add, whole numbers in doubles; nothing where there is no value, unless it
        is taken for the lower end.
        """
        grid, found = self.grid, self._integers
        assert grid is not None
        if self.missing is not None and piece.filled:
            found = np.where(self.missing, float(grid.low), found)
        if piece.form != "value":
            found = found - grid.centre
        if piece.form == "square":
            found = found * found
            found = (
                np.floor((found + (1 << piece.shift >> 1)) * 0.5**piece.shift)
                if piece.shift
                else found
            )
        return found if self.missing is None or piece.filled else np.where(self.missing, 0.0, found)


class Rows:
    """Rows with their places, or none where there is but one, and their weights, or none where each
    weighs one. All sums are whole numbers below 2^53.
    """

    def __init__(self, at: Places | None, weights: Floats | None, count: int, size: int) -> None:
        self._at, self._weights, self._count, self._size = at, weights, count, size
        self._all: Any = None

    def all(self) -> Any:
        """What the rows of every place weigh."""
        if self._all is None:
            self._all = (
                self._added(self._weights) if self._weights is not None else self._counted(None)
            )
        return self._all

    def where(self, mask: Mask | None) -> Any:
        """What those weigh that a mask names, which may be none."""
        if mask is None:
            return 0
        return (
            self._counted(mask)
            if self._weights is None
            else self._added(np.where(mask, self._weights, 0.0))
        )

    def sum(self, numbers: Floats, piece: Piece) -> Any:
        """What the numbers come to, each times its weight: in two halves, of which each has
        room.
        """
        if self._weights is None:
            return self._added(numbers)
        half = piece.largest.bit_length() // 2
        upper = np.floor(numbers * 0.5**half)
        return (self._added(upper * self._weights) << half) + self._added(
            (numbers - upper * 2.0**half) * self._weights
        )

    def both(self, numbers: Floats, piece: Piece, room: Room) -> Any:
        """The sum of numbers, and by the way how many rows there are: each adds a constant beside
        its number, larger than all numbers together.
        """
        constant = 1 << (piece.high - piece.low).bit_length() + PART.bit_length()
        packed = self._added(
            np.add(numbers, constant - piece.low, out=room.array(np.float64, len(numbers)))
        )
        self._all = packed // constant
        return packed - self._all * (constant - piece.low)

    def _counted(self, mask: Mask | None) -> Any:
        if self._at is None:
            return self._count if mask is None else np.count_nonzero(mask)
        return np.bincount(self._at if mask is None else self._at[mask], minlength=self._size)

    def _added(self, numbers: Floats) -> Any:
        return (
            int(numbers.sum())
            if self._at is None
            else np.bincount(self._at, numbers, self._size).astype(np.int64)
        )


def cells_of(rows: Rows, piece: Piece, column: Column | None) -> list[Any]:
    """What the rows of a part add to the cells of a piece."""
    if column is None:
        return [rows.all()]
    if piece.form not in ("one", "side"):
        return [rows.sum(column.measured(piece), piece)]
    there = rows.all() if column.missing is None else rows.where(~column.missing)
    return (
        [there]
        if piece.form == "one"
        else [rows.where(column.below), there, rows.where(column.above)]
    )
