"""The sums of a stream by period: which exact integers the engine computes for which periods.

*Rows*         A unit's rows of one period are bounded by themselves: to the engine, a unit and a
               period together are what owns a row. So a weight depends on the rows of one period.
*First*        Where a unit counts in its first periods only, the engine keeps those rows before it
               weighs them: which ones follows from the unit's rows alone. While rows are only
               added, a unit then counts in no more periods of the noise than that
               (docs/proofs/streams.md).
*Sums*         Where the rows of a sum are counted, too, it is the centred sum, whose rows move it
               half as far, and the count times the centre.
*Components*   Those of the columns alone. The counts of clipped values, which an answer to one
               question has, are left out: a stream would pay for them in every period.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from ..aggregates.column_parts import centred_sum
from ..aggregates.component import Component
from ..declare.declaration import Key
from ..expr.column_names import unused_name
from ..expr.expressions import Expr, col
from ..expr.relational import select
from ..query.owned_rows import apply_steps, columns_of, table_source
from ..query.stages import Query, RowStep
from . import plan_refusals as refusals
from .bounding import Bounding
from .components import ColumnPlan, QueryComponents
from .query_plan import MOST_CELLS
from .read_results import ResultGroups, list_groups, public_groups
from .statements import EngineStatement, build_statements

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from ..engine.sources import TableSource

_PRODUCT, _SUM = 62, 126  # bits of a weight times an integer, and of a sum of them
_WEIGHT_BITS = 10  # the noise of a stream has a grid of its own below that of the weights


@dataclass(frozen=True, slots=True, eq=False)
class PeriodQuery:
    """A query whose aggregates are summed by period. `most_periods` limits in how many periods a
    unit counts, its first ones; None if there is no such limit.
    """

    query: Query
    period: Expr
    components: tuple[Component, ...]
    columns: tuple[ColumnPlan, ...]
    bounding: Bounding
    most_periods: int | None

    @classmethod
    def of(
        cls,
        query: Query,
        period: Expr,
        needed: QueryComponents,
        *,
        unit_rows: int | None,
        most_periods: int | None,
    ) -> PeriodQuery:
        """Bound a query by period: a unit weighs at most `unit_rows` rows in each."""
        declared = replace(query.rows.declaration, max_rows=unit_rows)
        limited = replace(query, rows=replace(query.rows, declaration=declared))
        bounding = replace(
            Bounding.of(limited, "L2"), grouped=True, relation="add-remove", most_bits=_WEIGHT_BITS
        )
        components, columns = _share_counts(query, needed)
        for component in components:
            if (
                bounding.bits + component.largest.bit_length() > _PRODUCT
                or bounding.sum_bits(component) > _SUM
            ):
                raise refusals.SUMS_TOO_LARGE(component=component.name)
        return cls(limited, period, components, columns, bounding, most_periods)

    def between(self, periods: Sequence[date | datetime], begin: date | datetime) -> PeriodSums:
        """Return what the engine computes for these periods, of a stream that begins at `begin`."""
        query = self.query
        if len(periods) * len(self.groups) > MOST_CELLS:
            raise refusals.TOO_MANY_CELLS(cells=len(periods) * len(self.groups), most=MOST_CELLS)
        rows, unit = query.rows, query.rows.declaration.unit
        name = unused_name("period", {column.lower() for column in rows.schema})
        since = begin if self.most_periods is not None else periods[0]
        rows = rows.mutate(**{name: self.period}).where(
            (col(name) >= since) & (col(name) <= periods[-1])
        )
        bounding = self.bounding
        if unit:
            owners = (*unit, name)
            rows = replace(rows, declaration=replace(rows.declaration, unit=owners))
            bounding = replace(bounding, unit=owners)
        by_period = Query(
            rows, (name, *query.keys), (tuple(periods), *query.domains), query.aggregates
        )
        source = table_source(query.rows)
        first = self.most_periods if unit else None
        return PeriodSums(by_period, len(periods), self.components, bounding, source, first)

    @property
    def groups(self) -> list[tuple[Key, ...]]:
        """Return the public groups, in the order of their columns of sums."""
        return list_groups(self.query)

    @property
    def is_row_wise(self) -> bool:
        """Tell whether every step reads one row alone, so that a row keeps its period."""
        return all(isinstance(step, RowStep) for step in self.query.rows.steps)


def _share_counts(
    query: Query, needed: QueryComponents
) -> tuple[tuple[Component, ...], tuple[ColumnPlan, ...]]:
    """Return the components of the columns, each once; a sum whose rows are counted by another
    column is read from the centred sum and that count.
    """
    aggregates = dict(query.aggregates)
    of_column = {
        column.name: [needed.components[place] for place in column.components]
        for column in needed.columns
    }
    counted = {
        part.name
        for column in needed.columns
        if column.kind != "sum"
        for part in of_column[column.name]
    }
    by_name: dict[str, Component] = {}
    columns = []
    for column in needed.columns:
        parts, numbers = of_column[column.name], column.numbers
        if column.kind == "sum":
            (centred, rows), about = centred_sum(aggregates[column.name], query.rows)
            if rows.name in counted:
                parts, numbers = [centred, rows], about
        for part in parts:
            by_name.setdefault(part.name, part)
        places = tuple(list(by_name).index(part.name) for part in parts)
        columns.append(replace(column, components=places, numbers=numbers))
    return tuple(by_name.values()), tuple(columns)


@dataclass(frozen=True, eq=False)
class PeriodSums:
    """The exact sums by period and group that the engine computes. Public, until it does."""

    query: Query
    periods: int
    components: tuple[Component, ...]
    bounding: Bounding
    source: TableSource
    most_periods: int | None

    @cached_property
    def statements(self) -> tuple[EngineStatement, ...]:
        """Return what the engine has to compute."""
        table, query = self._first_rows() if self.most_periods else (self.source.table, self.query)
        return build_statements(
            table,
            query,
            self.components,
            self.bounding,
            secrets.token_hex(16),
            None,
            ballot=False,
        )

    @cached_property
    def groups(self) -> ResultGroups:
        """Return all periods with all groups."""
        schema = self.statements[0].expression.schema()
        return public_groups(
            self.query, [schema[f"k{i}"].to_pyarrow() for i in range(len(self.query.keys))]
        )

    def _first_rows(self) -> tuple[ir.Table, Query]:
        """Build the rows of each unit's first periods, and the same query of these rows."""
        rows = self.query.rows
        *unit, period = rows.declaration.unit
        table, schema, conditions = apply_steps(
            self.source.table, rows.declaration.schema, rows.steps
        )
        table = select(table, columns_of(table), conditions)
        assert self.most_periods is not None
        table = keep_first_periods(table, unit, period, self.most_periods)
        declared = replace(rows.declaration, types=tuple(schema.items()))
        return table, replace(self.query, rows=replace(rows, declaration=declared, steps=()))


def keep_first_periods(table: ir.Table, unit: list[str], period: str, most: int) -> ir.Table:
    """Keep the rows of each unit in its first `most` periods that have a row."""
    import ibis

    name = unused_name("place", {column.lower() for column in table.columns})
    owner = [table[column] for column in unit]
    place = ibis.dense_rank().over(group_by=owner, order_by=[table[period]])
    marked = table.mutate(**{name: place})
    return marked.filter(marked[name] < most).drop(name)
