"""Reading what the engine gives: exact integers, put where their group is. Secret; total on
whatever comes.

*Groups*    Public keys: every combination, in order, empty ones too. Private keys: those of the
            ballot that were selected, sorted.
*Integers*  int64 where the declared number of rows keeps the sums within 62 bits, else Python
            integers: public facts decide, never the sums.
"""

from __future__ import annotations

import itertools
import math
from datetime import UTC
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ..engine.arrow_arrays import array, numbers, zero
from ..expr.types import Type
from ..query.stages import Query
from .bounding import Bounding
from .components import Piece
from .engine_keys import engine_keys
from .statements import Statement, wide

Integers = NDArray[Any]
Places = NDArray[np.int64]


class Groups:
    """The groups of an answer, each a row of keys, and where a line of an engine's table
    belongs.
    """

    __slots__ = ("_levels", "_order", "_values", "names", "rows")

    def __init__(self, keys: Any, query: Query, rows: list[tuple[Any, ...]] | None = None) -> None:
        """From an Arrow table of keys, one row for each group, all of them different; and the same
        rows as people name them, where these are known.
        """
        import pyarrow.compute as pc

        self.names = keys.column_names
        columns = [keys.column(name).combine_chunks() for name in self.names]
        if rows is None:
            named = [
                _named(column.to_pylist(), query.rows.schema[key])
                for column, key in zip(columns, query.keys, strict=True)
            ]
            rows = list(zip(*named, strict=True)) if columns else [()]
        self.rows = rows
        self._values = [pc.unique(column) for column in columns]
        self._levels: list[NDArray[np.int64]] = []
        own = np.zeros(keys.num_rows if columns else 1, dtype=np.int64)
        for column, values in zip(columns, self._values, strict=True):
            own = own * len(values) + _found(column, values)
            self._levels.append(own if (own[1:] > own[:-1]).all() else np.unique(own))
            own = np.searchsorted(self._levels[-1], own)
        self._order = np.empty(len(own), dtype=np.int64)
        self._order[own] = np.arange(len(own))

    def __len__(self) -> int:
        return len(self.rows)

    def places(self, table: Any) -> Places:
        """The group of every line, −1 for none. Column by column, so that numbers stay small
        however many combinations there could be.
        """
        at = np.zeros(table.num_rows, dtype=np.int64)
        known = np.full(table.num_rows, len(self) > 0)
        for name, values, level in zip(self.names, self._values, self._levels, strict=True):
            found = _found(table.column(name), values)
            code = at * len(values) + found
            at = np.minimum(np.searchsorted(level, code), max(len(level) - 1, 0))
            known &= (found >= 0) & (level[at] == code) if len(level) else False
        return np.where(known, self._order[at] if len(self) else -1, -1)


def public_groups(query: Query, types: list[Any]) -> Groups:
    """All combinations of public keys."""
    import pyarrow as pa

    columns, count = {}, math.prod(len(domain) for domain in query.domains)
    after, before = count, 1
    for i, (name, domain, known) in enumerate(zip(query.keys, query.domains, types, strict=True)):
        after //= len(domain)
        column = array(engine_keys(domain, query.rows.schema[name]), known)
        if after > 1 or before > 1:  # the last key changes fastest
            column = column.take(
                array(
                    np.tile(np.repeat(np.arange(len(domain)), after), before).tolist(), pa.int64()
                )
            )
        columns[f"k{i}"], before = column, before * len(domain)
    return Groups(pa.table(columns), query, list(itertools.product(*query.domains)))


def chosen_groups(ballot: Any, kept: NDArray[np.bool_], query: Query) -> Groups:
    """The groups of a ballot that were kept, sorted by key, nulls last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = ballot.drop_columns("votes").filter(pa.array(kept))
    order = pc.sort_indices(
        keys, sort_keys=[(name, "ascending") for name in keys.column_names]
    )  # nulls at the end, if nothing else is said
    return Groups(keys.take(order), query)


def votes_of(ballot: Any) -> NDArray[np.int64]:
    return integers(ballot.column("votes"), wide=False)


def read(
    statement: Statement,
    table: Any,
    piece: Piece,
    place: int,
    groups: Groups,
    bounding: Bounding,
    *,
    public: bool,
) -> Integers:
    """The integers of a piece, groups × cells; one row where it is pooled."""
    big = wide(Piece("", "one") if statement.shape == "long" else piece, bounding)
    out: Integers = np.zeros(
        (1 if piece.pooled else len(groups), piece.cells), dtype=object if big else np.int64
    )
    # what is pooled over private groups is of those that are not named, too
    at = (
        np.zeros(table.num_rows, dtype=np.int64)
        if piece.pooled and not public
        else groups.places(table)
    )
    here = at >= 0
    at = np.zeros_like(at) if piece.pooled else at
    if statement.shape == "long":
        cell = integers(table.column(f"v{place}"), wide=False)
        if piece.tree is not None:
            assert piece.grid is not None
            here &= _valid(table.column(f"v{place}"))
            piece.tree.count(
                out,
                at[here],
                cell[here] - piece.grid.low,
                integers(table.column(f"s{place}_0"), wide=big)[here],
            )
            return out
        here &= _valid(table.column(f"v{place}")) & (cell >= 0) & (cell < piece.cells)
        np.add.at(
            out, (at[here], cell[here]), integers(table.column(f"s{place}_0"), wide=big)[here]
        )
        return out
    for i in range(piece.cells):
        name = "votes" if statement.shape == "units" else f"s{place}_{i}"
        np.add.at(
            out[:, i],
            at[here],
            integers(table.column(name), wide=big and statement.shape == "rows")[here],
        )
    if piece.form == "side":
        out[:, 1] -= (
            out[:, 0] + out[:, 2]
        )  # of those with a value, what lies neither below nor above lies inside
    return out


def read_points(
    table: Any, place: int, groups: Groups, bounding: Bounding
) -> tuple[Places, NDArray[np.int64], Integers]:
    """Of a quantile: group, grid point and weight of every line."""
    at = groups.places(table)
    here = (at >= 0) & _valid(table.column(f"v{place}"))
    points = integers(table.column(f"v{place}"), wide=False)
    weights = integers(table.column(f"s{place}_0"), wide=wide(Piece("", "one"), bounding))
    return at[here], points[here], weights[here]


def integers(column: Any, *, wide: bool) -> Integers:
    """A column of integers or of whole decimals, nothing where it is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pc.fill_null(column, zero(column.type)).combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = (
            pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], type=column.type)
        )
    if not pa.types.is_decimal(whole.type):
        narrow: Integers = numbers(whole.cast(pa.int64()))
        return narrow.astype(object) if wide else narrow
    halves = np.frombuffer(whole.buffers()[1], dtype=np.uint64)[
        2 * whole.offset : 2 * (whole.offset + len(whole))
    ]
    low, high = halves[0::2], halves[1::2].view(np.int64)
    return high.astype(object) * (1 << 64) + low.astype(object) if wide else low.view(np.int64)


def _valid(column: Any) -> NDArray[np.bool_]:
    """Where there is something. The line of those that have no value is left out here: an engine
    that filtered them would compute every value twice.
    """
    return np.asarray(
        column.is_valid().combine_chunks().to_numpy(zero_copy_only=False), dtype=np.bool_
    )


def _named(keys: list[Any], known: Type) -> list[Any]:
    """Keys as people name them: uuids, and moments with their zone."""
    if known.kind == "uuid":
        return [None if key is None else UUID(key) for key in keys]
    return (
        [None if key is None else key.replace(tzinfo=UTC) for key in keys] if known.zone else keys
    )


def _found(column: Any, values: Any) -> Places:
    """The place of each entry among values, −1 for none. Null is found where null is a value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type != values.type:
        column = column.cast(values.type)
    found = pc.fill_null(pc.index_in(column, value_set=values), array([-1], pa.int32())[0])
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
        found = (
            found
            if not isinstance(found, pa.ChunkedArray)
            else pa.concat_arrays(found.chunks)
            if found.num_chunks
            else pa.array([], pa.int32())
        )
    return numbers(found).astype(np.int64)
