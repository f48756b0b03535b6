"""Read the engine's results: put exact integers in the row of their group.

The integers are secret. Reading never fails, whatever the engine returns.

*Groups*    Public keys: every combination, in order, empty ones too. Private keys: the selected
            groups of the ballot, sorted.
*Integers*  int64 if the declared number of rows keeps the sums within 62 bits, else Python
            integers: public facts decide, never the sums.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ..aggregates.component import Component
from ..aggregates.count_tree import Integers
from ..declare.public_keys import Key
from ..engine.arrow_arrays import array, numbers, zero
from ..expr.grids import Grid
from ..expr.types import Type
from ..query.stages import Query
from .bounding import NARROW, Bounding
from .engine_keys import engine_keys
from .statements import EngineStatement, needs_decimal

if TYPE_CHECKING:
    import pyarrow as pa

Places = NDArray[np.int64]


class ResultGroups:
    """The groups of an answer, each a row of keys; finds the group of each line of a result."""

    __slots__ = ("_levels", "_order", "_values", "names", "rows")

    def __init__(
        self, keys: pa.Table, query: Query, rows: list[tuple[Key, ...]] | None = None
    ) -> None:
        """Read an Arrow table of keys, one row for each group, all different. `rows` are the same
        keys as Python values, if the caller has them.
        """
        import pyarrow.compute as pc

        self.names = keys.column_names
        columns = [keys.column(name).combine_chunks() for name in self.names]
        if rows is None:
            named = [
                _public_values(column.to_pylist(), query.rows.schema[key])
                for column, key in zip(columns, query.keys, strict=True)
            ]
            rows = list(zip(*named, strict=True)) if columns else [()]
        self.rows = rows
        self._values = [pc.unique(column) for column in columns]
        self._levels: list[NDArray[np.int64]] = []
        codes = np.zeros(keys.num_rows if columns else 1, dtype=np.int64)
        for column, values in zip(columns, self._values, strict=True):
            codes = codes * len(values) + find_keys(column, values)
            self._levels.append(codes if (codes[1:] > codes[:-1]).all() else np.unique(codes))
            codes = np.searchsorted(self._levels[-1], codes)
        self._order = np.empty(len(codes), dtype=np.int64)
        self._order[codes] = np.arange(len(codes))

    def __len__(self) -> int:
        return len(self.rows)

    def places(self, table: pa.Table) -> Places:
        """Return the group of every line, −1 for none. Goes column by column, so that numbers stay
        small however many combinations there could be.
        """
        at = np.zeros(table.num_rows, dtype=np.int64)
        is_group = np.full(table.num_rows, len(self) > 0)
        for name, values, level in zip(self.names, self._values, self._levels, strict=True):
            indices = find_keys(table.column(name), values)
            code = at * len(values) + indices
            at = np.minimum(np.searchsorted(level, code), max(len(level) - 1, 0))
            is_group &= (indices >= 0) & (level[at] == code) if len(level) else False
        return np.where(is_group, self._order[at] if len(self) else -1, -1)


def public_groups(query: Query, types: list[pa.DataType]) -> ResultGroups:
    """Return all combinations of public keys that exist."""
    import pyarrow as pa

    if query.combinations:
        paths = list_groups(query)
        listed = {
            f"k{i}": array(
                engine_keys(tuple(path[i] for path in paths), query.rows.schema[name]), kind
            )
            for i, (name, kind) in enumerate(zip(query.keys, types, strict=True))
        }
        return ResultGroups(pa.table(listed), query, paths)
    columns, count = {}, math.prod(len(domain) for domain in query.domains)
    after, before = count, 1
    for i, (name, domain, arrow_type) in enumerate(
        zip(query.keys, query.domains, types, strict=True)
    ):
        after //= len(domain)
        column = array(engine_keys(domain, query.rows.schema[name]), arrow_type)
        if after > 1 or before > 1:  # the last key changes fastest
            column = column.take(
                array(
                    np.tile(np.repeat(np.arange(len(domain)), after), before).tolist(), pa.int64()
                )
            )
        columns[f"k{i}"], before = column, before * len(domain)
    return ResultGroups(pa.table(columns), query, list_groups(query))


def list_groups(query: Query) -> list[tuple[Key, ...]]:
    """Return the combinations of public keys that exist, in the order of keys."""
    if not (allowed := query.combinations):
        return list(itertools.product(*query.domains))
    axes: list[tuple[tuple[int, ...], Sequence[tuple[Key, ...]]]] = [
        (each.places, each.paths) for each in allowed
    ]
    bound = {i for each in allowed for i in each.places}
    axes += [
        ((i,), [(key,) for key in domain])
        for i, domain in enumerate(query.domains)
        if i not in bound
    ]
    places = [i for at, _ in axes for i in at]
    back = [places.index(i) for i in range(len(query.keys))]
    joined = (
        tuple(itertools.chain.from_iterable(parts))
        for parts in itertools.product(*(paths for _, paths in axes))
    )
    order = [{key: place for place, key in enumerate(domain)} for domain in query.domains]
    groups = [tuple(path[i] for i in back) for path in joined]
    return sorted(groups, key=lambda group: [at[key] for at, key in zip(order, group, strict=True)])


def chosen_groups(table: pa.Table, selected: NDArray[np.bool_], query: Query) -> ResultGroups:
    """Return the groups of the selected lines of a result, sorted by key, nulls last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [f"k{i}" for i in range(len(query.keys))]
    keys = table.select(names).filter(pa.array(selected))
    order = pc.sort_indices(
        keys, sort_keys=[(name, "ascending") for name in keys.column_names]
    )  # Arrow's default puts nulls at the end
    return ResultGroups(keys.take(order), query)


def votes_of(ballot: pa.Table) -> NDArray[np.int64]:
    return integers(ballot.column("votes"), wide=False)


def counts_of_lines(
    statement: EngineStatement,
    table: pa.Table,
    component: Component,
    place: int,
    bounding: Bounding,
) -> Integers:
    """Read the count of each line of a result, for groups that are not selected yet."""
    by_units = statement.shape == "units"
    name = "votes" if by_units else f"s{place}_0"
    wide = needs_decimal(component, bounding) and not by_units
    return integers(table.column(name), wide=wide)


def read_component(
    statement: EngineStatement,
    table: pa.Table,
    component: Component,
    place: int,
    groups: ResultGroups,
    bounding: Bounding,
    *,
    public: bool,
) -> Integers:
    """Read the integers of a component, groups × cells; one row if it is pooled."""
    big = needs_decimal(Component("", "one") if statement.shape == "long" else component, bounding)
    out: Integers = np.zeros(
        (1 if component.pooled else len(groups), component.cells), dtype=object if big else np.int64
    )
    # a component pooled over private groups counts the groups that are not named, too
    at = (
        np.zeros(table.num_rows, dtype=np.int64)
        if component.pooled and not public
        else groups.places(table)
    )
    here = at >= 0
    at = np.zeros_like(at) if component.pooled else at
    if statement.shape == "long":
        cell = integers(table.column(f"v{place}"), wide=False)
        if component.tree is not None:
            assert component.grid is not None
            here &= _valid(table.column(f"v{place}"))
            component.tree.count(
                out,
                at[here],
                component.grid.marks(cell[here]),
                integers(table.column(f"s{place}_0"), wide=big)[here],
            )
            return out
        here &= _valid(table.column(f"v{place}")) & (cell >= 0) & (cell < component.cells)
        np.add.at(
            out, (at[here], cell[here]), integers(table.column(f"s{place}_0"), wide=big)[here]
        )
        return out
    for i in range(component.cells):
        name = "votes" if statement.shape == "units" else f"s{place}_{i}"
        np.add.at(
            out[:, i],
            at[here],
            integers(table.column(name), wide=big and statement.shape == "rows")[here],
        )
    if component.form == "side":
        out[:, 1] -= (
            out[:, 0] + out[:, 2]
        )  # of those with a value, what lies neither below nor above lies inside
    return out


def combine_sums(
    sums: Sequence[Integers], cells: Sequence[Sequence[int]], *, wide: bool
) -> Integers:
    """Combine columns of integers into cells: a column for each list of weights; in Python integers
    if results may be `wide`. Else 64 bits hold the results, and sums on the way may wrap around. A
    table with more rows than declared may have larger results: these get Python integers, too.
    """
    kind = object if wide or _exceed_declared(sums, cells) else np.int64
    out: Integers = np.zeros((len(sums[0]), len(cells)), dtype=kind)
    for i, weights in enumerate(cells):
        for weight, column in zip(weights, sums, strict=True):
            if weight:
                out[:, i] += weight * column[:, 0].astype(kind)
    return out


def scale_integers(table: Integers, by: int, *, wide: bool = False) -> Integers:
    """Multiply a table by a public power of two; in Python integers if all of it together may be
    `wide`. A table with more rows than declared gets Python integers, too.
    """
    largest = float(np.abs(np.asarray(table, dtype=np.float64)).sum()) * by
    return (table.astype(object) if wide or largest > 1.5 * 2.0**NARROW else table) * by


def _exceed_declared(sums: Sequence[Integers], cells: Sequence[Sequence[int]]) -> bool:
    """Tell whether results are larger than 62 bits, which doubles show well enough."""
    columns = np.stack([column[:, 0].astype(np.float64) for column in sums])
    results = np.array(cells, dtype=np.float64) @ columns
    return bool(np.abs(results).max(initial=0.0) > 1.5 * 2.0**NARROW)


def read_points(
    table: pa.Table, place: int, grid: Grid, groups: ResultGroups, bounding: Bounding
) -> tuple[Places, NDArray[np.int64], Integers]:
    """Read the group, grid point and weight of every line of a quantile."""
    at = groups.places(table)
    here = (at >= 0) & _valid(table.column(f"v{place}"))
    points = integers(table.column(f"v{place}"), wide=False)
    if grid.digits:
        points = grid.marks(points)
    weights = integers(
        table.column(f"s{place}_0"), wide=needs_decimal(Component("", "one"), bounding)
    )
    return at[here], points[here], weights[here]


def integers(column: pa.ChunkedArray, *, wide: bool) -> Integers:
    """Read a column of integers or of decimals without fraction; null counts as 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.fill_null(column, zero(column.type)).combine_chunks()
    if isinstance(filled, pa.ChunkedArray):
        filled = (
            pa.concat_arrays(filled.chunks) if filled.num_chunks else pa.array([], type=column.type)
        )
    if not pa.types.is_decimal(filled.type):
        narrow: Integers = numbers(filled.cast(pa.int64()))
        return narrow.astype(object) if wide else narrow
    halves = np.frombuffer(filled.buffers()[1], dtype=np.uint64)[
        2 * filled.offset : 2 * (filled.offset + len(filled))
    ]
    low, high = halves[0::2], halves[1::2].view(np.int64)
    return high.astype(object) * (1 << 64) + low.astype(object) if wide else low.view(np.int64)


def _valid(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return where a column is not null. Rows without a value are left out here: an engine that
    filtered them would compute every value twice.
    """
    return np.asarray(
        column.is_valid().combine_chunks().to_numpy(zero_copy_only=False), dtype=np.bool_
    )


def _public_values(keys: list[Any], column_type: Type) -> list[Key]:
    """Return keys as Python values: uuids, and moments with their zone."""
    if column_type.kind == "uuid":
        return [None if key is None else UUID(key) for key in keys]
    return (
        [None if key is None else key.replace(tzinfo=UTC) for key in keys]
        if column_type.zone
        else keys
    )


def find_keys(column: pa.ChunkedArray, values: pa.Array) -> Places:
    """Return the place of each entry among values, −1 for none. Null matches a null value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type != values.type:
        column = column.cast(values.type)
    indices = pc.fill_null(pc.index_in(column, value_set=values), array([-1], pa.int32())[0])
    if isinstance(indices, pa.ChunkedArray):
        indices = indices.combine_chunks()
        indices = (
            indices
            if not isinstance(indices, pa.ChunkedArray)
            else pa.concat_arrays(indices.chunks)
            if indices.num_chunks
            else pa.array([], pa.int32())
        )
    return numbers(indices).astype(np.int64)
