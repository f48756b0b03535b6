"""Rows as small codes, one for each column: what tables of several columns are counted from.

*Cells*    A column has public cells: its public keys, equal steps between public bounds, or spans
           between public edges. The last cell is for rows without a value, and for values that are
           no public key. So every row has a code in every column.
*Engine*   adds up the weights of the rows with equal codes: one line for each combination that
           occurs. Every table of counts is a sum of these lines.
*Weights*  A unit has one set of weights for all tables, as for tables that agree
           (docs/proofs/synthetic.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod
from operator import add
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from ..declare.public_keys import Key
from ..engine.arrow_arrays import array
from ..expr.engine_values import number
from ..expr.expressions import Expr
from ..expr.grids import Grid
from ..expr.nodes import Columns
from ..expr.relational import group, select
from ..expr.types import Type
from ..query.owned_rows import apply_steps
from ..query.stages import Rows
from .bounding import Bounding, row_weights, truncate_rows
from .engine_keys import engine_key_column, engine_keys
from .read_results import find_keys, integers
from .statements import EngineStatement

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

Codes = NDArray[np.int64]
Columnwise = tuple[int, ...]
"""The columns of a table of counts, by their places."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column with public cells: keys, or spans of grid integers or between edges. The last of its
    cells has no value.
    """

    name: str
    cells: int
    keys: tuple[Key, ...] = ()
    value: Expr | None = None  # the number that is placed, if there are no keys
    grid: Grid | None = None
    width: int = 1  # how many grid integers a cell has
    edges: tuple[Fraction, ...] = ()  # of the spans; values beyond them count in the nearest span
    ordered: bool = True  # whether cells that are next to each other are alike

    def build(self, columns: Columns, schema: Mapping[str, Type]) -> ir.Value:
        """Build the code of a number for the engine, null without a value; or the key itself."""
        if self.value is None:
            return engine_key_column(self.name, columns, schema)
        value = self.value.raw(columns, schema)
        if self.grid is not None:
            place = self.grid.places(value).cast("int64")
            return (place // self.width).cast("int64") if self.width > 1 else place
        import ibis

        x = value.cast("float64")
        spans = reduce(add, [(x >= number(float(e))).cast("int64") for e in self.edges[1:-1]])
        return ibis.cases((x.notnull() & ~x.isnan(), spans))

    def read(self, column: pa.ChunkedArray, kind: Type) -> Codes:
        """Return the code of each line."""
        if self.value is None:
            keys = array(engine_keys(self.keys, kind), column.type)
            code = find_keys(column, keys)
        else:
            import pyarrow.compute as pc

            code = integers(pc.fill_null(column, -1), wide=False)
        return np.where((code < 0) | (code >= self.cells - 1), self.cells - 1, code)


@dataclass(frozen=True, slots=True, eq=False)
class RowCodes:
    """The rows of a question as codes."""

    rows: Rows
    columns: tuple[CodedColumn, ...]
    bounding: Bounding

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(column.cells for column in self.columns)

    def statement(self, source: ir.Table, secret: str) -> EngineStatement:
        """Build the sum of weights for each combination of codes."""
        units = [f"u{i}" for i in range(len(self.bounding.unit))]
        keys = [f"k{i}" for i in range(len(self.columns))]
        base = self._base(source, units, keys)
        if self.bounding.truncation:
            base = truncate_rows(base, self.bounding.rows, units, secret)
        elif units:
            owners = self._base(source.view(), units, [])
            base = row_weights(base, self.bounding, units, keys, owners=owners)
        weighs = bool(units) and not self.bounding.truncation
        weight = base["w"].sum() if weighs else base.count()
        return EngineStatement("rows", group(base, keys, {"s0_0": weight.cast("int64")}), (0,))

    def _base(self, source: ir.Table, units: list[str], keys: list[str]) -> ir.Table:
        table, schema, conditions = apply_steps(
            source, self.rows.declaration.schema, self.rows.steps
        )
        owners = {
            name: table[column] for name, column in zip(units, self.bounding.unit, strict=True)
        }
        codes = {
            name: column.build(table, schema)
            for name, column in zip(keys, self.columns, strict=False)
        }
        owned = [cast("ir.BooleanValue", owner.notnull()) for owner in owners.values()]
        return select(table, owners | codes, [*conditions, *owned])

    def read(self, tally: pa.Table) -> ExactLines:
        """Read the engine's lines. Secret."""
        codes = [
            column.read(tally.column(f"k{i}"), self.rows.schema[column.name]).astype(np.uint16)
            for i, column in enumerate(self.columns)
        ]
        return ExactLines(codes, integers(tally.column("s0_0"), wide=False), self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class ExactLines:
    """Lines of codes with exact weights: secret."""

    codes: Sequence[NDArray[np.uint16]]
    weights: Codes
    sizes: tuple[int, ...]

    def merge(self, maps: Sequence[NDArray[np.int64]]) -> ExactLines:
        """Return the lines in coarser cells: `maps` has the new cell of each cell of a column."""
        merged = [to.astype(np.uint16)[code] for code, to in zip(self.codes, maps, strict=True)]
        return ExactLines(merged, self.weights, tuple(int(to.max()) + 1 for to in maps))

    def count(self, columns: Columnwise) -> Codes:
        """Return the table of counts by some columns."""
        shape = [self.sizes[i] for i in columns]
        cell = flatten([self.codes[i] for i in columns], shape)
        out = np.zeros(prod(shape), dtype=np.int64)
        if (self.weights == 1).all():
            out[:] = np.bincount(cell, minlength=len(out))
        else:
            np.add.at(out, cell, self.weights)
        return out.reshape(shape)


def flatten(codes: Sequence[NDArray[np.uint16]], shape: Sequence[int]) -> Codes:
    """Return the cell of each line in a table; the last column changes fastest."""
    cell = codes[0].astype(np.int64)
    for code, size in zip(codes[1:], shape[1:], strict=True):
        cell *= size
        cell += code
    return cell
