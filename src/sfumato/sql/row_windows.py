"""Read windows over the rows of one unit in a sub-query: ROW_NUMBER, LAG and LEAD with the unit in
PARTITION BY.

*Owner*    Such a value follows from the rows of one unit, so its row keeps its owner. A window over
           the rows of several people stays refused.
*Order*    Nulls come last. Rows that are equal in ORDER BY are ordered by their other columns.
*QUALIFY*  keeps rows by the numbers, as a WHERE around the sub-query would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import unused_name
from ..tables.expr.expressions import Expr, col
from ..tables.query.stages import Rows
from ..tables.query.unit_windows import UnitOrder, WindowOp
from . import sql_refusals as refusals
from .row_expressions import RowReader
from .scope import Scope, has_aggregate, quoted
from .sql_text import Node, arguments

Special: TypeAlias = "Callable[[Node], Expr | None]"
"""Returns the expression that stands for a node, or None."""

OPS: dict[type[Node], WindowOp] = {exp.RowNumber: "row_number", exp.Lag: "lag", exp.Lead: "lead"}
"""The functions that look along the rows of a unit."""
_RANKS = (exp.Rank, exp.DenseRank)


def find_row_windows(select: exp.Select, scope: Scope, scalars: RowReader) -> list[exp.Window]:
    """Return the windows of a sub-query, if all of them look along the rows of one unit; none if
    the sub-query has groups or aggregates beside them.
    """
    parts = [*select.expressions, select.args.get("qualify")]
    nodes = [part for part in parts if isinstance(part, Node)]
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return []
    if any(has_aggregate(node, in_windows=False) for node in nodes):
        return []
    windows = [
        window
        for node in nodes
        for window in node.find_all(exp.Window)
        if window.find_ancestor(exp.Select) is select
    ]
    return windows if all(_is_of_unit(window, scope, scalars) for window in windows) else []


def refuse_other_windows(select: exp.Select, scope: Scope, scalars: RowReader) -> Refused | None:
    """Return the refusal of a sub-query with windows over the rows of several people; None if it
    has groups, aggregates or no windows.
    """
    window: exp.Window | None = next(
        (part for item in select.expressions for part in item.find_all(exp.Window)), None
    )
    if window is None or window.find_ancestor(exp.Select) is not select:
        return None
    if select.args.get("group") is not None or any(
        has_aggregate(item, in_windows=False) for item in select.expressions
    ):
        return None
    unit = ", ".join(map(quoted, scope.rows.declaration.unit))
    source, order = scalars.source, window.args.get("order")
    function: Node = window.this
    corrected = source.example
    if order is not None and unit and isinstance(function, (*OPS, *_RANKS)):
        parts = [
            source.words_of(part)
            for part in window.args.get("partition_by") or []
            if not scope.unit(scope.read(part, scalars))
        ]
        call = "ROW_NUMBER()" if type(function) in _RANKS else source.words_of(function)
        keys = ", ".join(
            source.words_of(key.this) + " DESC" * bool(key.args.get("desc"))
            for key in order.expressions
        )
        over = f"PARTITION BY {', '.join([unit, *parts])} ORDER BY {keys}"
        corrected = source.replace_text(window, f"{call} OVER ({over})")
    return source.refuse(
        refusals.WINDOW_OF_SEVERAL, window, unit=unit or "a unit", corrected=corrected
    )


def _is_of_unit(window: exp.Window, scope: Scope, scalars: RowReader) -> bool:
    """Tell whether a window looks along the rows of one unit, in an order."""
    call, order, unit = window.this, window.args.get("order"), scope.rows.declaration.unit
    read_parts = {"this", "partition_by", "order", "over"}
    if type(call) not in OPS or order is None or set(arguments(window)) - read_parts or not unit:
        return False
    if set(arguments(call)) - {"this"} or (call.this is None) != isinstance(call, exp.RowNumber):
        return False
    if not all(
        isinstance(key, exp.Ordered)
        and not set(arguments(key)) - {"this", "desc", "nulls_first"}
        and not key.args.get("nulls_first")
        for key in order.expressions
    ):
        return False
    partition = _partition(window, scope, scalars)
    return {part.text for part in partition if scope.unit(part)} == {col(u).text for u in unit}


def _partition(window: exp.Window, scope: Scope, scalars: RowReader) -> list[Expr]:
    return [scope.read(node, scalars) for node in window.args.get("partition_by") or []]


def read_row_windows(
    select: exp.Select, windows: Sequence[exp.Window], scope: Scope, scalars: RowReader
) -> tuple[Scope, Special]:
    """Add a column for each window to the rows. Returns the rows, and what stands for a window."""
    rows, columns = scope.rows, dict[str, str]()
    for window in windows:
        key = window.sql()
        if key in columns:
            continue
        order = UnitOrder(
            tuple(
                (scope.read(part.this, scalars), bool(part.args.get("desc")))
                for part in window.args["order"].expressions
            ),
            tuple(part for part in _partition(window, scope, scalars) if not scope.unit(part)),
        )
        call = window.this
        of = None if call.this is None else scope.read(call.this, scalars)
        used = {name.lower() for name in (*rows.schema, *scope.names)}
        name = unused_name(_alias_of(window) or "k", used)
        rows = _look_along(rows, name, OPS[type(call)], order, of, window, scalars)
        columns[key] = name

    def special(part: Node) -> Expr | None:
        """Return the column that stands for a window."""
        return col(columns[part.sql()]) if isinstance(part, exp.Window) else None

    return replace(scope, rows=rows), special


def _look_along(
    rows: Rows,
    name: str,
    op: WindowOp,
    order: UnitOrder,
    of: Expr | None,
    window: exp.Window,
    scalars: RowReader,
) -> Rows:
    try:
        return rows.look_along(name, op, order, of)
    except Refused as refusal:
        raise scalars.source.relocate(refusal, window, scalars.source.example) from None


def _alias_of(window: exp.Window) -> str:
    """Return the name that the text gives a window; "" if it gives none."""
    return window.parent.alias if isinstance(window.parent, exp.Alias) else ""
