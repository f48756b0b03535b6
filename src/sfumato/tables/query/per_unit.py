"""Aggregate the rows of each unit to one row, or to one row for each key: a sub-query with GROUP BY
the unit, or SELECT DISTINCT with the unit among the columns.

*Ownership*  A resulting row is a function of the rows of its unit alone, so it belongs to that
             unit, and later steps bound it as usual.
*Exact*      A total that depended on the order of rows would depend on who else is there. So the
             engine adds integers and decimals as they are, in 128 bits, and floats as integers on
             the grid of their bounds; an average is the quotient of such a sum and a count.
             Minimum, maximum and counts do not depend on the order.
*Total*      No total can fail, whatever rows hold: the planner refuses decimals whose sums could
             exceed 38 digits, before anything is read.
*Once*       Without a key every unit has one row: it then counts for one row, whatever max_rows is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ..expr import engine_values as ev
from ..expr.expressions import Expr, col, python_text
from ..expr.grids import Grid, grid_of
from ..expr.types import FLOAT, INT64, Span, Type
from . import query_refusals as refusals

if TYPE_CHECKING:
    import ibis.expr.types as ir

TotalKind = Literal["count", "count_distinct", "sum", "mean", "min", "max"]
Schema = Mapping[str, Type]

DIGITS = 25  # of a decimal whose sums over any table of 2^40 rows have fewer than 38
_ORDERED = ("integer", "decimal", "float", "string", "date", "timestamp")


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """A total over the rows of one unit: of which values (`of`) and rows (`where`)."""

    kind: TotalKind
    of: Expr | None = None
    where: Expr | None = None

    @property
    def text(self) -> str:
        arguments = [] if self.of is None else [self.of.text]
        arguments += [] if self.where is None else [f"where={self.where.text}"]
        return f"{self.kind}({', '.join(arguments)})"

    def type(self, schema: Schema, ranges: Mapping[str, Span]) -> Type:
        """Return the type of the total. Refuses a total that is not exact, or could fail."""
        if self.where is not None and self.where.type(schema).kind != "bool":
            raise refusals.TOTAL_CONDITION_NOT_TRUE_OR_FALSE(total=self.text)
        if self.of is None:
            return Type("integer", nullable=False)
        value_type = self.of.type(schema)
        if self.kind in ("count", "count_distinct"):
            return Type("integer", nullable=False)
        fields = {"total": self.text, "of": self.of.text, "python": python_text(self.of)}
        if self.kind in ("min", "max"):
            if value_type.kind not in _ORDERED:
                raise refusals.TOTAL_WITHOUT_ORDER(**fields, words=value_type.words)
            return value_type.bare
        if value_type.kind == "float" or (
            value_type.kind == "decimal" and value_type.precision > DIGITS
        ):
            if self.of.range(ranges) is None:
                raise refusals.TOTAL_WITHOUT_BOUNDS(**fields, kind=self.kind)
        elif value_type.kind not in ("bool", "integer", "decimal"):
            raise refusals.TOTAL_OF_NO_NUMBER(**fields, words=value_type.words)
        return FLOAT

    def range(self, ranges: Mapping[str, Span]) -> Span | None:
        """Return the bounds of the total if they follow from the bounds of the rows."""
        return (
            self.of.range(ranges)
            if self.of is not None and self.kind in ("mean", "min", "max")
            else None
        )


@dataclass(frozen=True, slots=True, eq=False)
class PerUnit:
    """The step of a query: keys next to the unit, and totals, each with the name of its column."""

    unit: tuple[str, ...]
    keys: tuple[tuple[str, Expr], ...]
    totals: tuple[tuple[str, Total], ...]
    ranges: Mapping[str, Span]  # of the columns before this step

    @property
    def text(self) -> str:
        by = ", ".join(
            [
                *(col(name).text for name in self.unit),
                *(f"{col(name).text} = {key.text}" for name, key in self.keys),
            ]
        )
        return (
            f"per {by}: "
            f"{', '.join(f'{col(name).text} = {total.text}' for name, total in self.totals)}"
        ).removesuffix(": ")

    def schema(self, before: Schema) -> dict[str, Type]:
        """Return the columns after the step."""
        columns = {name: before[name] for name in self.unit} | {
            name: key.type(before) for name, key in self.keys
        }
        return columns | {name: total.type(before, self.ranges) for name, total in self.totals}

    def build(self, table: ir.Table, before: Schema, again: object = None) -> ir.Table:
        """Build the step for an engine."""
        columns = {name: table[name] for name in self.unit}
        columns |= {name: key.build(table, before) for name, key in self.keys}
        # −0 and 0 are one value: which of them stands for both must not depend on the order
        columns = {
            name: value + ev.number(0) if value.type().is_floating() else value
            for name, value in columns.items()
        }
        values = {
            f"v{i}": value
            for i, (_, total) in enumerate(self.totals)
            if (value := _value(total, table, before, self.ranges)) is not None
        }
        named = {f"g{i}": value for i, value in enumerate(columns.values())}
        rows = table.select(**named, **values)
        rows = rows.filter([rows[f"g{i}"].notnull() for i in range(len(self.unit))])
        if not self.totals:
            return rows.distinct().rename(dict(zip(columns, named, strict=True)))
        sums = {
            f"s{i}": _TOTALS[total.kind](rows, f"v{i}", self._step(total, before))
            for i, (_, total) in enumerate(self.totals)
        }
        totals = rows.group_by(list(named)).agg(**sums)
        return totals.rename(
            dict(zip([*columns, *(name for name, _ in self.totals)], [*named, *sums], strict=True))
        )

    def clipped(self, before: Schema) -> Iterator[tuple[Expr, Span]]:
        """Yield the values that this step clips before it adds them, with the ends."""
        for _, total in self.totals:
            grid = None if total.of is None else _grid(total, before, self.ranges)
            if grid is None:
                continue
            assert total.of is not None
            ends, sure = (grid.low * grid.step, grid.high * grid.step), total.of.range({})
            if sure is None or sure[0] < ends[0] or sure[1] > ends[1]:
                yield total.of, ends

    def _step(self, total: Total, before: Schema) -> float:
        grid = None if total.of is None else _grid(total, before, self.ranges)
        return 1.0 if grid is None else float(grid.step)


def _grid(total: Total, before: Schema, ranges: Mapping[str, Span]) -> Grid | None:
    """Return the grid of values that are added as integers; None for values added as they are."""
    assert total.of is not None
    value_type = total.of.type(before)
    if (
        total.kind not in ("sum", "mean")
        or value_type.kind not in ("float", "decimal")
        or (value_type.kind == "decimal" and value_type.precision <= DIGITS)
    ):
        return None
    ends = total.of.range(ranges)
    assert ends is not None
    low, high = ends if ends[0] < ends[1] else (ends[0], ends[0] + Fraction(1))
    return grid_of(total.of.text, value_type, low, high)


def _value(
    total: Total, columns: ir.Table, before: Schema, ranges: Mapping[str, Span]
) -> ir.Value | None:
    """Return what a row adds to a total, null if nothing; None if every row counts one."""
    where = None if total.where is None else total.where.build(columns, before)
    if total.of is None:
        return None if where is None else ev.where(where, ev.constant(1, INT64))
    value = total.of.build(columns, before)
    grid = _grid(total, before, ranges)
    if grid is not None:
        value = grid.integers(value)
    elif value.type().is_boolean() and total.kind in ("sum", "mean"):
        value = ev.cast(value, INT64)
    elif value.type().is_floating():
        value = value + ev.number(0)
    return value if where is None else ev.where(where, value)


def _count(rows: ir.Table, name: str, step: float) -> ir.Value:
    return rows[name].count() if name in rows.columns else rows.count()


def _sum(rows: ir.Table, name: str, step: float) -> ir.Value:
    """Sum a column. The engine sums integers in 128 bits and decimals in 38 digits, so the double
    is the same in every order.
    """
    return ev.cast(rows[name].sum(), FLOAT) * ev.number(step)


def _mean(rows: ir.Table, name: str, step: float) -> ir.Value:
    return _sum(rows, name, step) / ev.cast(rows[name].count(), FLOAT).nullif(ev.number(0))


_TOTALS: dict[TotalKind, Callable[[ir.Table, str, float], ir.Value]] = {
    "count": _count,
    "count_distinct": lambda rows, name, step: rows[name].nunique(),
    "sum": _sum,
    "mean": _mean,
    "min": lambda rows, name, step: rows[name].min(),
    "max": lambda rows, name, step: rows[name].max(),
}
"""Every kind of total, as the engine computes it."""
