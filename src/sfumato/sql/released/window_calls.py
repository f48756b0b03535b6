"""Read window functions over released groups: which function, of what, and its frame.

A window sees released groups only, so it costs nothing. A window over rows would tell of rows one
by one: `refuse_row_window` shows the form over groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from ...errors import Refused
from ...exact.numbers import Number
from .. import sql_refusals as refusals
from ..row_expressions import RowReader
from ..scope import Scope, has_aggregate, identifier, quoted
from ..sql_constants import read_count, read_fraction
from ..sql_text import Node, arguments
from .window_frames import SortOrder, WindowCall

AGGREGATES: Mapping[type[Node], str] = {
    exp.Sum: "sum_over",
    exp.Avg: "mean_over",
    exp.Min: "min_over",
    exp.Max: "max_over",
    exp.Count: "count_over",
}
RANKS: Mapping[type[Node], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.Ntile: "ntile",
}
NEIGHBOURS: Mapping[type[Node], int] = {exp.Lag: -1, exp.Lead: 1}
PICKS: Mapping[type[Node], int] = {exp.FirstValue: 1, exp.LastValue: -1, exp.NthValue: 0}

WINDOW_FUNCTIONS = (
    *("SUM", "AVG", "MIN", "MAX", "COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE"),
    *("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"),
)
"""The window functions over released groups, for readers."""

Parts = tuple[WindowCall, list[Node]]
"""A call, and the nodes of its values, its PARTITION BY and its ORDER BY, one after the other."""


def read_window(node: exp.Window, scalars: RowReader) -> Parts:
    """Read a window function; the caller reads its nodes as released values."""
    source = scalars.source
    node = _with_named_window(node, scalars)
    more = set(arguments(node)) - {"this", "partition_by", "order", "spec", "over"}
    if more:
        raise source.refuse(refusals.WINDOW_UNSUPPORTED, node)
    partition = list(node.args.get("partition_by") or [])
    sorting = node.args.get("order")
    ordered = [] if sorting is None else sorting.expressions
    order = []
    for part in ordered:
        if not isinstance(part, exp.Ordered) or set(arguments(part)) - {
            "this",
            "desc",
            "nulls_first",
        }:
            raise source.refuse(refusals.WINDOW_UNSUPPORTED, node)
        order.append(SortOrder(bool(part.args.get("desc")), bool(part.args.get("nulls_first"))))
    call, operands = _function(node.this, scalars)
    call = replace(call, operands=len(operands), partition=len(partition), order=tuple(order))
    if (call.step or call.op in RANKS.values()) and not order:
        raise source.refuse(
            refusals.WINDOW_WITHOUT_ORDER, node, function=source.words_of(node.this)
        )
    spec = node.args.get("spec")
    if spec is not None:
        call = _with_frame(call, spec, node, scalars)
    return call, [*operands, *partition, *(part.this for part in ordered)]


def whole_partition(op: str, operands: int, partition: int) -> WindowCall:
    """Return the window of an aggregate over all groups with equal keys."""
    return WindowCall(op, operands, partition, (), first=None, last=None)


def read_aggregate(node: Node, scalars: RowReader) -> tuple[str, list[Node]]:
    """Read an aggregate over released groups: its operation, and the nodes of its values."""
    source = scalars.source
    op = AGGREGATES.get(type(node))
    if op is None or set(arguments(node)) - {"this", "big_int"}:
        raise source.refuse(refusals.RELEASED_AGGREGATE, node)
    if node.this is None or isinstance(node.this, exp.Star):
        return op, []
    if isinstance(node.this, exp.Distinct):
        raise source.refuse(refusals.RELEASED_AGGREGATE, node)
    return op, [node.this]


def _function(node: Node, scalars: RowReader) -> Parts:
    call = WindowCall("pick", 0, 0, ())
    kind = type(node)
    if kind in AGGREGATES:
        op, operands = read_aggregate(node, scalars)
        return replace(call, op=op), operands
    if kind in RANKS:
        parts = read_count(node.this, scalars.parameters, "NTILE") if kind is exp.Ntile else 0
        if (kind is exp.Ntile and not parts) or (kind is not exp.Ntile and node.expressions):
            raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)
        return replace(call, op=RANKS[kind], parts=parts), []
    if kind in NEIGHBOURS and not set(arguments(node)) - {"this", "offset", "default"}:
        offset = node.args.get("offset")
        by = 1 if offset is None else read_count(offset, scalars.parameters, "LAG")
        default = node.args.get("default")
        empty = None
        if default is not None and not isinstance(default, exp.Null):
            empty = read_fraction(default, scalars.parameters, "the value without a row")
        if not by:
            raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)
        return replace(call, step=NEIGHBOURS[kind] * by, empty=empty), [node.this]
    if kind in PICKS and not set(arguments(node)) - {"this", "offset"}:
        nth = PICKS[kind] or read_count(node.args.get("offset"), scalars.parameters, "NTH_VALUE")
        if not nth:
            raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)
        return replace(call, nth=nth), [node.this]
    raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)


def _with_frame(call: WindowCall, spec: Node, node: exp.Window, scalars: RowReader) -> WindowCall:
    known_parts = {"kind", "start", "start_side", "end", "end_side"}
    kind = str(spec.args.get("kind") or "").lower()
    if set(arguments(spec)) - known_parts or kind not in ("rows", "range"):
        raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)
    first = _edge(spec.args.get("start"), spec.args.get("start_side"), kind, node, scalars)
    end = spec.args.get("end")
    last = 0 if end is None else _edge(end, spec.args.get("end_side"), kind, node, scalars)
    return replace(call, unit="rows" if kind == "rows" else "range", first=first, last=last)


def _edge(
    edge: object, side: object, kind: str, node: exp.Window, scalars: RowReader
) -> int | None:
    """Read one end of a frame: an offset, or None for no limit."""
    if edge == "CURRENT ROW":
        return 0
    if edge == "UNBOUNDED":
        return None
    if kind == "rows" and isinstance(edge, exp.Expression) and side in ("PRECEDING", "FOLLOWING"):
        count = read_count(edge, scalars.parameters, "ROWS")
        return -count if side == "PRECEDING" else count
    raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)


def _with_named_window(node: exp.Window, scalars: RowReader) -> exp.Window:
    """Replace OVER w by what WINDOW w AS (…) says."""
    name = identifier(node.args.get("alias"))
    if name is None:
        return node
    select = node.find_ancestor(exp.Select)
    for window in (select.args.get("windows") or []) if select is not None else []:
        if (identifier(window.this) or "").lower() == name.lower():
            clauses = {
                key: window.args.get(key)
                for key in ("partition_by", "order", "spec")
                if window.args.get(key)
            }
            if any(node.args.get(key) for key in ("partition_by", "order", "spec")):
                break
            named = node.copy()
            named.set("alias", None)
            for key, value in clauses.items():
                named.set(
                    key,
                    [part.copy() for part in value] if isinstance(value, list) else value.copy(),
                )
            named.parent = node.parent
            return named
    raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, node)


def check_named_windows(select: exp.Select, scalars: RowReader) -> None:
    """Refuse a window that WINDOW names and nothing uses: no part of a text is ignored."""
    used = {
        (identifier(node.args.get("alias")) or "").lower() for node in select.find_all(exp.Window)
    }
    for window in select.args.get("windows") or []:
        if (identifier(window.this) or "").lower() not in used:
            raise scalars.source.refuse(refusals.WINDOW_UNSUPPORTED, window)


def refuse_row_window(node: exp.Window, scope: Scope, scalars: RowReader) -> Refused:
    """Return the refusal of a window over rows, with the same question about groups."""
    source = scalars.source
    table = quoted(scope.rows.declaration.name)
    partition = [source.words_of(part) for part in node.args.get("partition_by") or []]
    sorting = node.args.get("order")
    order = [] if sorting is None else [source.words_of(part.this) for part in sorting.expressions]
    function, kind = source.words_of(node.this), type(node.this)
    value = node.this.this if isinstance(node.this.this, Node) else None
    of = "COUNT(*)"
    if kind in AGGREGATES:
        of = function
    elif value is not None and not isinstance(value, exp.Literal):
        of = f"SUM({source.words_of(value)})"
    if kind in RANKS:
        keys = partition or ["city" if "city" in scope.names else next(iter(scope.names))]
        over, call = f"ORDER BY {of} DESC", f"{function}"
    else:
        keys = [*partition, *order]
        over = " ".join(
            part
            for part in (
                f"PARTITION BY {', '.join(partition)}" if partition else "",
                f"ORDER BY {', '.join(order)}" if order else "",
            )
            if part
        )
        call = (
            f"SUM({of})"
            if kind in AGGREGATES
            else function.replace("" if value is None else source.words_of(value), of, 1)
        )
    if not keys:
        corrected = f"SELECT {of} AS total FROM {table}"
    else:
        listed = ", ".join(keys)
        corrected = (
            f"SELECT {listed}, {of} AS total, {call} OVER ({over}) AS x FROM {table} "
            f"GROUP BY {listed}"
        )
    return source.refuse(refusals.WINDOW, node, corrected=corrected)


__all__ = ["WINDOW_FUNCTIONS", "Number", "has_aggregate", "read_aggregate", "read_window"]
