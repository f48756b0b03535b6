"""Read HAVING and ORDER BY of the outermost SELECT: both work on released values."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from . import sql_refusals as refusals
from .answer_expressions import AnswerExpression, AnswerNames, read_answer_expression
from .group_by.grouping import SelectItem
from .postprocess import SortKey
from .released.window_frames import SortOrder
from .row_expressions import RowReader
from .sql_text import Node, arguments


@dataclass(frozen=True, slots=True)
class HavingOrderReader:
    """Reads HAVING and ORDER BY."""

    select: exp.Select
    items: list[SelectItem]
    histograms: frozenset[str]  # columns with many numbers for each group
    names: AnswerNames
    scalars: RowReader

    def having(self) -> AnswerExpression | None:
        clause = self.select.args.get("having")
        if clause is None:
            return None
        refuse_windows(clause, "HAVING", self.scalars)
        condition = read_answer_expression(clause.this, self.names, self.scalars)
        if condition.sort != "truth":
            raise self.scalars.source.refuse(refusals.HAVING_NOT_CONDITION, clause)
        refuse_histograms(condition, self.histograms, clause.this, self.scalars)
        return condition

    def qualify(self) -> AnswerExpression | None:
        """Read QUALIFY: a condition on windows, which are computed after HAVING."""
        clause = self.select.args.get("qualify")
        if clause is None:
            return None
        condition = read_answer_expression(clause.this, self.names, self.scalars)
        if condition.sort != "truth":
            raise self.scalars.source.refuse(refusals.HAVING_NOT_CONDITION, clause)
        refuse_histograms(condition, self.histograms, clause.this, self.scalars)
        return condition

    def order(self) -> tuple[SortKey, ...]:
        clause = self.select.args.get("order")
        if clause is None:
            return ()
        source = self.scalars.source
        if set(arguments(clause)) - {"expressions"}:
            raise source.refuse(refusals.ORDER_UNSUPPORTED, clause)
        sort_keys: list[SortKey] = []
        for ordered in clause.expressions:
            if not isinstance(ordered, exp.Ordered) or set(arguments(ordered)) - {
                "this",
                "desc",
                "nulls_first",
            }:
                raise source.refuse(refusals.ORDER_UNSUPPORTED, ordered)
            nulls, down = bool(ordered.args.get("nulls_first")), bool(ordered.args.get("desc"))
            how = SortOrder(down, nulls)
            sort_keys += [SortKey(by, how) for by in self._by(ordered.this)]
        return tuple(sort_keys)

    def _by(self, node: Node) -> list[AnswerExpression]:
        """Read what to sort by: a position, ALL, a name, or any released value."""
        source = self.scalars.source
        if isinstance(node, exp.Var) and node.name.upper() == "ALL":
            return [
                read_answer_expression(item.node, self.names, self.scalars) for item in self.items
            ]
        if isinstance(node, exp.Literal) and not node.is_string:
            text = str(node.this)
            if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= len(self.items):
                raise source.refuse(refusals.ORDER_POSITION, node, most=len(self.items))
            node = self.items[int(text) - 1].node
        expression = read_answer_expression(node, self.names, self.scalars)
        if expression.op == "aggregate" and expression.value in self.histograms:
            raise source.refuse(refusals.ORDER_BY_HISTOGRAM, node)
        refuse_histograms(expression, self.histograms, node, self.scalars)
        if expression.sort not in ("number", "key", "truth") or expression.op == "number":
            raise source.refuse(refusals.ORDER_NOT_RELEASED, node)
        return [expression]


def refuse_histograms(
    value: AnswerExpression, histograms: frozenset[str], node: Node, scalars: RowReader
) -> None:
    """Refuse an expression with a column that has many numbers for each group; the column alone is
    none.
    """
    if value.op != "aggregate" and value.aggregates & histograms:
        raise scalars.source.refuse(refusals.HISTOGRAM_IN_EXPRESSION, node)


def refuse_windows(clause: Node, name: str, scalars: RowReader) -> None:
    """Refuse a window in a condition that comes before windows."""
    if (window := clause.find(exp.Window)) is not None:
        condition = scalars.source.words_of(clause.this)
        raise scalars.source.refuse(
            refusals.WINDOW_TOO_EARLY,
            window,
            clause=name,
            corrected=scalars.source.replace_text(clause, f"QUALIFY {condition}"),
        )
