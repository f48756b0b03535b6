"""Read rows as codes, once, for sums that NumPy takes over them step by step.

*Statement*  One line for each row that counts, in any order: its codes, several of them packed into
             one integer, and its weight. The engine leaves out rows without a unit, and rows where
             a needed column is missing, before it weighs the rest.
*Sums*       Every sum over the lines is one of integers, so their order does not matter; what a
             line adds depends on its own codes and weight, and on public tables.
*Secret*     The lines are secret; only the functions that the door calls read them.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....noise.law import Integers
from ...engine.arrow_arrays import array
from ...expr.relational import select
from ...query.owned_rows import apply_steps, columns_of
from ...query.stages import Rows
from ..bounding import Bounding, row_weights, truncate_rows
from ..engine_keys import engine_keys
from ..statements import EngineStatement
from .column_codes import KeyCode, RowCode

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

MOST_PACKED = 1 << 15
"""The most combinations of codes in one packed integer: a table of them fits a core's cache."""

_LINES = 1 << 17  # that are added up at a time
_WEIGHT_BITS = 10

Batch = tuple[list[NDArray[np.intp]], NDArray[np.int64] | None]
"""The packed codes of some lines, and their weights; None if every line weighs 1."""


def bound_rows(rows: Rows) -> Bounding:
    """Return the contribution bounds of rows that are read one by one: the rows of a unit weigh K
    together.
    """
    return replace(Bounding.of(rows.count(), "L1"), limits_total=True, most_bits=_WEIGHT_BITS)


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows of a protected table as codes."""

    rows: Rows
    codes: tuple[RowCode, ...]
    needed: frozenset[int]  # codes without which a row is left out
    packs: tuple[tuple[int, ...], ...]
    bounding: Bounding

    @classmethod
    def of(
        cls, rows: Rows, codes: Sequence[RowCode], needed: Iterable[int], *, packed: int
    ) -> CodedRows:
        """Code rows; pack the first `packed` columns together, as many as fit, others alone."""
        packs: list[tuple[int, ...]] = []
        for place in range(len(codes)):
            size = codes[place].size
            fits = (
                at
                for at, pack in enumerate(packs)
                if place < packed and size * math.prod(codes[i].size for i in pack) <= MOST_PACKED
            )
            at = next(fits, None)
            if at is None:
                packs.append((place,))
            else:
                packs[at] = (*packs[at], place)
        return cls(rows, tuple(codes), frozenset(needed), tuple(packs), bound_rows(rows))

    def shape(self, pack: int) -> tuple[int, ...]:
        """Return the sizes of the columns of a pack."""
        return tuple(self.codes[i].size for i in self.packs[pack])

    def statement(self, table: ir.Table) -> EngineStatement:
        """Build what the engine runs."""
        units = [f"u{i}" for i in range(len(self.bounding.unit))]
        lines = self._lines(table, units)
        if self.bounding.truncation:
            lines = truncate_rows(lines, self.bounding.rows, units, secrets.token_hex(16))
        elif units:
            owners = self._lines(table.view(), units)
            lines = row_weights(lines, self.bounding, units, [], owners=owners)
        columns: dict[str, ir.Value] = {}
        for at, pack in enumerate(self.packs):
            packed: ir.Value = lines[f"c{pack[0]}"].cast("int64")
            for place in pack[1:]:
                packed = packed * self.codes[place].size + lines[f"c{place}"]
            columns[f"p{at}"] = packed.cast(
                "int32" if math.prod(self.shape(at)) > 32767 else "int16"
            )
        if units and not self.bounding.truncation:
            columns["w"] = lines.w.cast("int64")
        return EngineStatement("rows", select(lines, columns))

    def _lines(self, table: ir.Table, units: list[str]) -> ir.Table:
        """Build the rows that count, with their units and codes."""
        declared = self.rows.declaration
        table, schema, conditions = apply_steps(table, declared.schema, self.rows.steps)
        columns: dict[str, ir.Value] = {
            name: table[column] for name, column in zip(units, declared.unit, strict=True)
        }
        conditions += [owner.notnull() for owner in columns.values()]
        joined = {}
        for place, code in enumerate(self.codes):
            if isinstance(code, KeyCode) and not code.is_listed:
                joined[place] = code
                columns[f"j{place}"] = code.compared(table, schema)
            else:
                columns[f"c{place}"] = code.build(table, schema)
        lines = select(table, columns, conditions)
        for place, code in joined.items():
            lines = _join_codes(lines, place, code)
        if not self.needed:
            return lines
        present = [lines[f"c{place}"] < self.codes[place].size - 1 for place in sorted(self.needed)]
        return select(lines, columns_of(lines), present)

    def batches(self, tally: pa.Table) -> Iterator[Batch]:
        """Yield the lines of a result, some at a time."""
        weighed = "w" in tally.column_names
        for batch in tally.to_batches(max_chunksize=_LINES):
            packs = [
                batch.column(f"p{at}").to_numpy(zero_copy_only=False).astype(np.intp)
                for at in range(len(self.packs))
            ]
            yield packs, batch.column("w").to_numpy(zero_copy_only=False) if weighed else None

    def split(self, pack: int, sums: Integers) -> Iterator[tuple[int, Integers]]:
        """Yield each column of a pack with the sums by its codes."""
        table = sums.reshape(self.shape(pack))
        for axis, place in enumerate(self.packs[pack]):
            rest = tuple(i for i in range(table.ndim) if i != axis)
            yield place, np.asarray(table.sum(axis=rest))


def add_by_code(
    codes: NDArray[np.intp], values: NDArray[np.int64] | None, size: int
) -> NDArray[np.int64]:
    """Sum integers by code. Doubles hold the sums of one batch exactly: they are below 2^53."""
    if values is None:
        return np.bincount(codes, minlength=size).astype(np.int64)
    return np.bincount(codes, values, minlength=size).astype(np.int64)


def _join_codes(lines: ir.Table, place: int, code: KeyCode) -> ir.Table:
    """Replace the column of a long list of keys by its codes, by a join with the list."""
    import ibis
    import pyarrow as pa
    from ibis.expr.operations import InMemoryTable
    from ibis.expr.schema import Schema
    from ibis.formats.pyarrow import PyArrowTableProxy
    from ibis.util import gen_name

    name, kind = f"j{place}", lines[f"j{place}"].type()
    listed = pa.table(
        {
            "key": array(engine_keys(code.keys, code.kind), kind.to_pyarrow()),
            "place": array(list(range(len(code.keys))), pa.int64()),
        }
    )
    schema = Schema({"key": kind, "place": "int64"})
    keys = InMemoryTable(gen_name("codes"), schema, PyArrowTableProxy(listed)).to_expr()
    same = lines[name].identical_to(keys.key) if None in code.keys else lines[name] == keys.key
    joined = lines.left_join(keys, [same])
    coded = {column: joined[column] for column in lines.columns if column != name}
    coded[f"c{place}"] = ibis.coalesce(joined.place, ibis.literal(len(code.keys), "int64"))
    return select(joined, coded)
