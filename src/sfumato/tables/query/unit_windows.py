"""Look along the rows of one unit, in an order: the number of a row, or a value of the row before
or after it.

*Ownership*  The new value is a function of the rows of its unit alone: every row keeps its owner.
*Ties*       Rows that are equal in the order are ordered by all of their columns, nulls last. Rows
             that agree in these, too, are the same row twice: the engine's choice makes no
             difference. Otherwise the choice could depend on where other people's rows lie.
*Zeros*      −0 and 0 stand beside each other in an order, and some expressions tell them apart. So
             every float −0 becomes 0 first.
*Once*       A row whose number is known is the only one of its unit: after `where(k == 1)` a unit
             counts for one row, whatever max_rows is.
*Proof*      docs/proofs/tables.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..expr import engine_values as ev
from ..expr.expressions import Expr, as_expr, col
from ..expr.relational import select
from ..expr.types import Span, Type
from . import query_refusals as refusals

if TYPE_CHECKING:
    import ibis.expr.types as ir

Schema = Mapping[str, Type]
WindowOp = Literal["row_number", "lag", "lead"]

SORT = 7
"""What the sort of 64 rows costs for each of them, in steps of `unit_work`."""
_ORDERED = ("bool", "integer", "decimal", "float", "string", "date", "timestamp", "time")


@dataclass(frozen=True, slots=True, eq=False)
class UnitOrder:
    """An order of the rows of each unit: expressions, each with whether it falls, and the parts of
    a unit's rows that are looked along apart.
    """

    by: tuple[tuple[Expr, bool], ...]
    within: tuple[Expr, ...] = ()

    @classmethod
    def of(
        cls,
        by: str | Expr | Iterable[str | Expr],
        *,
        descending: bool,
        within: str | Expr | Iterable[str | Expr],
    ) -> UnitOrder:
        """Return the order of some columns or expressions."""
        keys = (by,) if isinstance(by, str | Expr) else tuple(by)
        parts = (within,) if isinstance(within, str | Expr) else tuple(within)
        return cls(tuple((as_expr(key), descending) for key in keys), tuple(map(as_expr, parts)))

    @property
    def text(self) -> str:
        keys = ", ".join(f"{key.text} desc" if falls else key.text for key, falls in self.by)
        parts = ", ".join(part.text for part in self.within)
        return f"by {keys}" + (f" within {parts}" if parts else "")

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (*(key for key, _ in self.by), *self.within)


@dataclass(frozen=True, slots=True, eq=False)
class UnitWindow:
    """The step of a query that adds one such column."""

    column: str
    op: WindowOp
    unit: tuple[str, ...]
    order: UnitOrder
    of: Expr | None = None  # of LAG and LEAD

    @property
    def text(self) -> str:
        value = "" if self.of is None else self.of.text
        return (
            f"window {col(self.column).text} = {self.op}({value}) of each "
            f"{', '.join(col(name).text for name in self.unit)} {self.order.text}"
        )

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions that the step computes."""
        return (*self.order.expressions, *(() if self.of is None else (self.of,)))

    def type(self, before: Schema) -> Type:
        """Return the type of the new column. Refuses an order of values that have none."""
        for part in self.order.expressions:
            if part.type(before).kind not in _ORDERED:
                raise refusals.ORDER_OF_NO_ORDER(of=part.text, words=part.type(before).words)
        if self.of is None:
            return Type("integer", nullable=False)
        return replace(self.of.type(before), nullable=True)

    def range(self, ranges: Mapping[str, Span]) -> Span | None:
        """Return the bounds of the new column if they follow from those of the rows."""
        return None if self.of is None else self.of.range(ranges)

    def schema(self, before: Schema) -> dict[str, Type]:
        """Return the columns after the step."""
        return {**before, self.column: self.type(before)}

    def build(self, table: ir.Table, before: Schema, again: object = None) -> ir.Table:
        """Build the step for an engine."""
        import ibis

        plain = {
            name: value + ev.number(0) if value.type().is_floating() else value
            for name, value in ((name, table[name]) for name in table.columns)
        }
        rows = select(table, plain)
        parts = {
            f"p{i}": part.build(rows, before) for i, part in enumerate(map(col, self.unit))
        } | {f"w{i}": part.build(rows, before) for i, part in enumerate(self.order.within)}
        keys = {f"o{i}": key.build(rows, before) for i, (key, _) in enumerate(self.order.by)}
        value = {} if self.of is None else {"value": self.of.build(rows, before)}
        columns = {f"c{i}": rows[name] for i, name in enumerate(rows.columns)}
        named = select(
            rows,
            columns
            | {
                name: part + ev.number(0) if part.type().is_floating() else part
                for name, part in (parts | keys | value).items()
            },
        )
        falls = [falls for _, falls in self.order.by]
        ties = [f"c{i}" for i, name in enumerate(rows.columns) if name in before]
        window = ibis.window(
            group_by=[named[name] for name in parts],
            order_by=[
                *(
                    ibis.desc(named[name]) if falling else ibis.asc(named[name])
                    for name, falling in zip(keys, falls, strict=True)
                ),
                *(ibis.asc(named[name]) for name in ties),
            ],
        )
        if self.op == "row_number":
            result = ibis.row_number().over(window) + 1
        else:
            shifted = named["value"].lag() if self.op == "lag" else named["value"].lead()
            result = shifted.over(window)
        return select(
            named,
            {name: named[f"c{i}"] for i, name in enumerate(rows.columns)} | {self.column: result},
        )
