"""Codes of columns: each row's value becomes a small integer, by public facts alone.

*Keys*      of a public list have their place in it; all other values, and null, share the last
            code.
*Cells*     of equal width between public bounds, on the grid of the column; values beyond a bound
            are in the cell at that end. Null and NaN share the last code.
*Edges*     that the caller states; values beyond them are in the first or the last cell.
*One code*  Every row has exactly one code in each column, whatever it holds: so a row's one-hot
            vector of k columns has norm √k (docs/proofs/models.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ...declare.public_keys import Key
from ...expr.engine_values import cast, constant, number
from ...expr.expressions import col
from ...expr.grids import Grid
from ...expr.nodes import Columns
from ...expr.types import INT64, STRING, Type
from ..engine_keys import comparable, engine_key, is_inline

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

Codes = NDArray[np.int64]
"""One code for each row."""


class RowCode(Protocol):
    """How a column becomes codes from 0 to size − 1. The last one is that of missing values."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def text(self) -> str:
        """What the codes are, for a plan."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code stands for."""
        ...

    @property
    def starts(self) -> NDArray[np.float64] | None:
        """Where each cell of a number begins, and where the last one ends; None for keys."""
        ...

    def build(self, columns: Columns, schema: Mapping[str, Type]) -> ir.IntegerValue:
        """Build the code of each row for the engine."""
        ...

    def encode(self, values: pa.ChunkedArray) -> Codes:
        """Return the codes of values in memory."""
        ...


@dataclass(frozen=True, eq=False)
class KeyCode:
    """The place of a value among public keys."""

    name: str
    kind: Type
    keys: tuple[Key, ...]

    starts = None

    @property
    def size(self) -> int:
        return len(self.keys) + 1

    @property
    def text(self) -> str:
        return f"{self.name} ({len(self.keys)} keys)"

    @property
    def labels(self) -> tuple[str, ...]:
        return (*map(str, self.keys), "any other")

    @property
    def is_listed(self) -> bool:
        """Whether the statement lists the keys; long lists are joined."""
        return len(self.keys) <= 64 and is_inline(self.keys)

    def compared(self, columns: Columns, schema: Mapping[str, Type]) -> ir.Value:
        """Return the column as it is compared with keys."""
        return comparable(col(self.name).build(columns, schema), self.kind)

    def build(self, columns: Columns, schema: Mapping[str, Type]) -> ir.IntegerValue:
        import ibis

        value = self.compared(columns, schema)
        written = STRING if self.kind.kind == "uuid" else self.kind.bare
        cases = [
            (
                value.isnull() if key is None else value == constant(engine_key(key), written),
                ibis.literal(place, "int16"),
            )
            for place, key in enumerate(self.keys)
        ]
        return ibis.cases(*cases, else_=ibis.literal(len(self.keys), "int16"))

    def encode(self, values: pa.ChunkedArray) -> Codes:
        import pyarrow as pa

        coded = values.combine_chunks()
        if isinstance(coded, pa.ChunkedArray):
            coded = pa.concat_arrays(coded.chunks) if coded.num_chunks else pa.array([], coded.type)
        coded = coded.dictionary_encode()
        places = {key: place for place, key in enumerate(self.keys)}
        missing = places.get(None, len(self.keys))
        at = [
            missing if v is None else places.get(v, len(self.keys))
            for v in coded.dictionary.to_pylist()
        ]
        indices = coded.indices.fill_null(len(at)).to_numpy(zero_copy_only=False)
        codes: Codes = np.array([*at, missing], dtype=np.int64)[indices]
        return codes


@dataclass(frozen=True, eq=False)
class CellCode:
    """The cell of a number: `width` steps of its grid each."""

    name: str
    grid: Grid
    width: int = 1

    @property
    def count(self) -> int:
        """The number of cells, without that of missing values."""
        return (self.grid.high - self.grid.low) // self.width + 1

    @property
    def size(self) -> int:
        return self.count + 1

    @property
    def text(self) -> str:
        low, high = self.starts[0], self.starts[-1]
        return f"{self.name} ({self.count} cells from {low:.6g} to {high:.6g})"

    @cached_property
    def starts(self) -> NDArray[np.float64]:
        places = self.grid.low + self.width * np.arange(self.count + 1, dtype=np.float64)
        places -= 0.5 if self.grid.floating else 0.0  # a value is rounded to the nearest step
        return places * float(self.grid.step)

    @property
    def centres(self) -> list[Fraction]:
        """The exact middle of the values of each cell."""
        low, high, step = self.grid.low, self.grid.high, self.grid.step
        return [
            step * (first + min(first + self.width - 1, high)) / 2
            for first in range(low, high + 1, self.width)
        ]

    @property
    def labels(self) -> tuple[str, ...]:
        ends = self.starts
        cells = (f"{a:.6g} to {b:.6g}" for a, b in pairwise(ends))
        return (*cells, "missing")

    def build(self, columns: Columns, schema: Mapping[str, Type]) -> ir.IntegerValue:
        import ibis

        place = cast(self.grid.places(col(self.name).raw(columns, schema)), INT64)
        cell = cast(place // self.width, INT64) if self.width > 1 else place
        return ibis.coalesce(cell, ibis.literal(self.count, "int64"))

    def encode(self, values: pa.ChunkedArray) -> Codes:
        x = as_doubles(values)
        missing = np.isnan(x)
        low, high = (float(end * self.grid.step) for end in (self.grid.low, self.grid.high))
        steps = np.clip(np.where(missing, low, x), low, high) / float(self.grid.step)
        rounded = np.rint(steps) if self.grid.floating or self.grid.scale else np.floor(steps)
        cell = (rounded.astype(np.int64) - self.grid.low) // self.width
        return np.where(missing, self.count, np.clip(cell, 0, self.count - 1))


@dataclass(frozen=True, eq=False)
class EdgeCode:
    """The cell of a number between stated edges: a cell has its lower edge, the last one both."""

    name: str
    edges: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        return len(self.edges)

    @property
    def text(self) -> str:
        return f"{self.name} (edges {', '.join(f'{float(edge):.6g}' for edge in self.edges)})"

    @property
    def starts(self) -> NDArray[np.float64]:
        return np.array(self.edges, dtype=np.float64)

    @property
    def labels(self) -> tuple[str, ...]:
        ends = self.starts
        cells = (f"{a:.6g} to {b:.6g}" for a, b in pairwise(ends))
        return (*cells, "missing")

    def build(self, columns: Columns, schema: Mapping[str, Type]) -> ir.IntegerValue:
        import ibis

        value = col(self.name).raw(columns, schema)
        is_integer = value.type().is_integer()
        absent = value.isnull() | value.isnan() if value.type().is_floating() else value.isnull()
        x = value if is_integer else value.cast("float64")

        def number_of(edge: Fraction) -> ir.Scalar:
            if is_integer:
                limit = max(-(2**63), min(2**63 - 1, math.ceil(edge)))
                return ibis.literal(limit, "int64")
            return number(float(edge))

        def within(low: int, high: int) -> ir.Value:
            if high - low == 1:
                return ibis.literal(low, "int16")
            middle = (low + high) // 2
            return ibis.cases(
                (x < number_of(self.edges[middle]), within(low, middle)),
                else_=within(middle, high),
            )

        cells = len(self.edges) - 1
        return ibis.cases((absent, ibis.literal(cells, "int16")), else_=within(0, cells))

    def encode(self, values: pa.ChunkedArray) -> Codes:
        x = as_doubles(values)
        cells = len(self.edges) - 1
        cell = np.clip(np.searchsorted(self.starts, x, side="right") - 1, 0, cells - 1)
        return np.where(np.isnan(x), cells, cell)


def as_doubles(values: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return numbers as doubles, missing ones as NaN."""
    import pyarrow as pa

    doubles = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(doubles, dtype=np.float64)
