"""Sum Arrow arrays exactly with NumPy: positions of keys, weights of units and integers of columns.
`parquet_sums` uses it as its fast path.

*Parts*     A few rows at a time: their numbers stay in the cache of a core, and their sums stay
            below 2^53, where doubles hold all integers.
*Rare*      The least and the largest number of a part show whether it has NaN or values out of
            bounds; only then are they handled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...aggregates.component import Component, Factor
from ...expr.grids import Grid, Numbers
from ..bounding import EXACT, Bounding

if TYPE_CHECKING:
    import pyarrow as pa

Like = TypeVar("Like", np.float64, np.intp)
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
MaskedNumbers = tuple[Numbers, Mask | None]
"""Numbers, and a mask of those that are missing."""

Sums = int | NDArray[np.int64]
"""A sum over all rows, or one for each group."""

PART = 1 << 15  # rows that are added at a time
MOST_COUNTED = (1 << 31) - 1  # rows of a unit: four bytes are kept of each
_ONE_ROW = np.int32(1)


class UnexpectedRows(Exception):
    """The data contradict what was stated: units outside the range in a file's footer, or more rows
    than were declared or can be counted.
    """


def fits(bits: int, bounding: Bounding) -> bool:
    """Whether doubles hold the sum of a part's `bits`-bit integers: if weighed, in two halves."""
    return PART.bit_length() + bounding.bits + (bits // 2 + 1 if bounding.unit else bits) <= EXACT


def is_narrow(piece: Component) -> bool:
    """Whether one double holds both the sum of a component and the number of rows."""
    return (piece.high - piece.low).bit_length() + 2 * PART.bit_length() + 1 <= EXACT


def parts(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + PART, rows)) for start in range(0, rows, PART))


def part_of(numbers_and_mask: MaskedNumbers, part: slice) -> MaskedNumbers:
    numbers, missing = numbers_and_mask
    return numbers[part], None if missing is None else missing[part]


class Buffers:
    """Arrays that are reused from batch to batch: allocating them takes longer than adding."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.uint64]] = []
        self._used = 0

    def begin(self) -> None:
        self._used = 0

    def array(self, like: type[Like], count: int) -> NDArray[Like]:
        if self._used == len(self._arrays):
            self._arrays.append(np.empty(PART, np.uint64))
        self._used += 1
        return self._arrays[self._used - 1][:count].view(like)


def numbers_of(values: pa.Array) -> MaskedNumbers:
    """View an Arrow array as NumPy numbers, arbitrary where null, with a mask of the nulls."""
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


def _between(numbers: Numbers, low: float, high: float) -> bool:
    """Whether all numbers lie between the ends; NaN does not."""
    return bool(len(numbers) and low <= numbers.min() and numbers.max() <= high)


Find = Callable[[Numbers, Mask | None, Buffers], Places]
"""A function that finds the positions of keys."""


def make_finder(domain: tuple[int, ...]) -> Find:
    """Return a function from keys to their positions in the public key set; other keys get the next
    position after it.
    """
    low, high = min(domain), max(domain)
    places: Places | None = None
    if domain != tuple(range(low, high + 1)):
        places = np.full(high - low + 2, len(domain), np.intp)
        places[np.array(domain) - low] = np.arange(len(domain))

    def find(keys: Numbers, missing: Mask | None, buffers: Buffers) -> Places:
        at: Places = buffers.array(np.intp, len(keys))
        if missing is None and _between(keys, low, high):
            # in narrow integers the difference could overflow
            np.subtract(keys, low, out=at, dtype=np.intp)
        else:
            inside = (keys >= low) & (keys <= high)
            at[:] = high - low + 1
            np.subtract(
                keys,
                low,
                out=at,
                dtype=np.intp,
                where=inside if missing is None else inside & ~missing,
            )
        return at if places is None else places[at]

    return find


class Weights:
    """The number of rows of every unit, and after `weigh` the weight of its rows."""

    def __init__(self, low: int, high: int, bounding: Bounding) -> None:
        self._low, self._high, self._bounding = low, high, bounding
        self._units = np.zeros(high - low + 1, np.int32)

    def count(
        self, units: Numbers, missing: Mask | None, counted: Mask | None, buffers: Buffers
    ) -> None:
        """Count the rows of these units, where `counted` is true."""
        places = self._places(units, missing, buffers)
        if missing is not None:
            counted = ~missing if counted is None else counted & ~missing
        np.add.at(
            self._units, places if counted is None or counted.all() else places[counted], _ONE_ROW
        )

    def weigh(self) -> None:
        """Replace the numbers of rows by weights, in the same array."""
        full_weight, least = self._bounding.weight, self._bounding.rows
        for start in range(0, len(self._units), PART):
            units = self._units[start : start + PART]
            units[:] = full_weight // np.maximum(units, least).astype(np.int64)

    def of(self, units: Numbers, missing: Mask | None, buffers: Buffers) -> Floats:
        """Return the weights of rows of these units; 0 without a unit."""
        unit_weights = np.take(self._units, self._places(units, missing, buffers), mode="clip")
        weights: Floats = buffers.array(np.float64, len(units))
        np.copyto(weights, unit_weights if missing is None else np.where(missing, 0, unit_weights))
        return weights

    def _places(self, units: Numbers, missing: Mask | None, buffers: Buffers) -> Places:
        if missing is None and not len(units):
            return np.empty(0, np.intp)
        if missing is not None:
            units = np.where(missing, self._low, units)
        if not _between(units, self._low, self._high):
            raise UnexpectedRows
        places: Places = np.subtract(
            units, self._low, out=buffers.array(np.intp, len(units)), dtype=np.intp
        )
        return places


class GridColumn:
    """A column on a grid, part by part: the integers of its rows, and masks of rows without a value
    or out of bounds. A mask of None means no row.
    """

    def __init__(self, name: str, grid: Grid | None, buffers: Buffers) -> None:
        self.name, self.grid, self._buffers = name, grid, buffers
        self._ends = None if grid is None else grid.ends
        self._rounded = None if grid is None else grid.rounder()
        self.missing: Mask | None = None
        self.below: Mask | None = None
        self.above: Mask | None = None
        self._integers: Floats = np.empty(0)

    def read(self, numbers: Numbers, missing: Mask | None) -> None:
        """Read the next part."""
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

    def _round(self, numbers: Numbers) -> None:
        assert self._rounded is not None
        self._integers = self._rounded(numbers, self._buffers.array(np.float64, len(numbers)))

    def addends(self, piece: Component) -> Floats:
        """Return what each row adds, as whole numbers in doubles: 0 without a value, or the lower
        bound if the component is filled.
        """
        grid, values = self.grid, self._integers
        assert grid is not None
        if self.missing is not None and piece.filled:
            values = np.where(self.missing, float(grid.low), values)
        if piece.form == "centred":
            values = values - grid.centre
        if piece.form == "square":
            values, steps = values - grid.low, grid.high - grid.low
            values = values * values
            if piece.times != steps:
                values = _over(values * piece.times, steps)
        return (
            values if self.missing is None or piece.filled else np.where(self.missing, 0.0, values)
        )

    def cell(self, factor: Factor) -> Floats:
        """Return a cell of the column: 0 without a value, or that of the lower bound if missing
        values count as it.
        """
        grid, values = self.grid, self._integers
        assert grid is not None
        is_filled = factor.column.filled
        if self.missing is not None and is_filled:
            values = np.where(self.missing, float(grid.low), values)
        distance = (values - grid.low) * factor.times
        if factor.degree == 1:
            cell = factor.row - distance if factor.place == 0 else distance
        else:
            top = _over(distance * distance, factor.row)
            cell = (factor.row - 2 * distance + top, 2 * (distance - top), top)[factor.place]
        return cell if self.missing is None or is_filled else np.where(self.missing, 0.0, cell)


class WeighedRows:
    """Rows with the positions of their groups (None for a single group) and their weights (None if
    each weighs 1). All sums are whole numbers below 2^53.
    """

    def __init__(
        self, places: Places | None, weights: Floats | None, count: int, size: int
    ) -> None:
        self._at, self._weights, self._count, self._size = places, weights, count, size
        self._all: Sums | None = None

    def all(self) -> Sums:
        """Return the weight of all rows, by group."""
        if self._all is None:
            self._all = (
                self._added(self._weights) if self._weights is not None else self._counted(None)
            )
        return self._all

    def where(self, mask: Mask | None) -> Sums:
        """Return the weight of the rows of a mask, by group."""
        if mask is None:
            return 0
        return (
            self._counted(mask)
            if self._weights is None
            else self._added(np.where(mask, self._weights, 0.0))
        )

    def sum(self, numbers: Floats, piece: Component) -> Sums:
        """Sum the numbers times their weights, by group: in two halves, each of which fits."""
        if self._weights is None:
            return self._added(numbers)
        half = piece.largest.bit_length() // 2
        upper = np.floor(numbers * 0.5**half)
        return (self._added(upper * self._weights) << half) + self._added(
            (numbers - upper * 2.0**half) * self._weights
        )

    def sum_and_count(self, numbers: Floats, piece: Component, buffers: Buffers) -> Sums:
        """Sum the numbers and count the rows in one addition: each row adds its number plus a
        constant that is larger than all numbers together.
        """
        constant = 1 << (piece.high - piece.low).bit_length() + PART.bit_length()
        packed = self._added(
            np.add(numbers, constant - piece.low, out=buffers.array(np.float64, len(numbers)))
        )
        self._all = packed // constant
        return packed - self._all * (constant - piece.low)

    def _counted(self, mask: Mask | None) -> Sums:
        if self._at is None:
            return self._count if mask is None else int(np.count_nonzero(mask))
        return np.bincount(self._at if mask is None else self._at[mask], minlength=self._size)

    def _added(self, numbers: Floats) -> Sums:
        return (
            int(numbers.sum())
            if self._at is None
            else np.bincount(self._at, numbers, self._size).astype(np.int64)
        )


def cells_of(rows: WeighedRows, piece: Component, columns: Sequence[GridColumn]) -> list[Sums]:
    """Return what the rows of a part add to the cells of a component."""
    if not columns:
        return [rows.all()]
    if piece.form == "product":
        cells = [column.cell(factor) for column, factor in zip(columns, piece.factors, strict=True)]
        product = cells[0] if len(cells) == 1 else _over(cells[0] * cells[1], piece.factors[0].row)
        return [rows.sum(product, piece)]
    (column,) = columns
    if piece.form not in ("one", "side"):
        return [rows.sum(column.addends(piece), piece)]
    there = rows.all() if column.missing is None else rows.where(~column.missing)
    return (
        [there]
        if piece.form == "one"
        else [rows.where(column.below), there, rows.where(column.above)]
    )


def _over(product: Floats, divisor: int) -> Floats:
    """Divide whole numbers below 2^53 and round to the nearest, by the engines' own operations."""
    quotient: Floats = np.floor((product + divisor // 2) / divisor)
    return quotient
