"""HAVING and ORDER BY of the outermost SELECT: both are about what is released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ..tables.query.aggregates import Aggregate
from .answer_expressions import Names, Released, read
from .grouping import Item
from .postprocess import Order
from .row_expressions import Scalars
from .sql_text import Node, arguments


@dataclass(frozen=True, slots=True)
class Clauses:
    """Reads HAVING and ORDER BY."""

    select: exp.Select
    items: list[Item]
    aggregates: Mapping[str, Aggregate]
    names: Names
    scalars: Scalars

    def having(self) -> Released | None:
        clause = self.select.args.get("having")
        if clause is None:
            return None
        found = read(clause.this, self.names, self.scalars)
        if found.sort != "truth":
            raise self.scalars.source.refuse(
                "sql.released",
                clause,
                "",
                "HAVING is a condition on released values",
                self.scalars.source.example,
            )
        return found

    def order(self) -> tuple[Order, ...]:
        clause = self.select.args.get("order")
        if clause is None:
            return ()
        source = self.scalars.source
        if set(arguments(clause)) - {"expressions"}:
            raise source.refuse(
                "sql.unsupported", clause, "", "this order is not on the list", source.example
            )
        found: list[Order] = []
        for ordered in clause.expressions:
            if not isinstance(ordered, exp.Ordered) or set(arguments(ordered)) - {
                "this",
                "desc",
                "nulls_first",
            }:
                raise source.refuse(
                    "sql.unsupported", ordered, "", "this order is not on the list", source.example
                )
            nulls, down = bool(ordered.args.get("nulls_first")), bool(ordered.args.get("desc"))
            found += [Order(by, down, nulls) for by in self._by(ordered.this)]
        return tuple(found)

    def _by(self, node: Node) -> list[Released]:
        """A position, ALL, a name, or anything that is released."""
        source = self.scalars.source
        if isinstance(node, exp.Var) and node.name.upper() == "ALL":
            return [read(item.node, self.names, self.scalars) for item in self.items]
        if isinstance(node, exp.Literal) and not node.is_string:
            text = str(node.this)
            if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= len(self.items):
                raise source.refuse(
                    "sql.released",
                    node,
                    "",
                    f"there are {len(self.items)} columns to sort by",
                    source.example,
                )
            node = self.items[int(text) - 1].node
        found = read(node, self.names, self.scalars)
        if found.op == "aggregate" and self.aggregates[found.value].kind == "histogram":
            raise source.refuse(
                "sql.released", node, "", "a histogram has no order", source.example
            )
        if found.sort not in ("number", "key", "truth") or found.op == "number":
            raise source.refuse(
                "sql.released",
                node,
                "",
                "groups are sorted by something that is released",
                source.example,
            )
        return [found]
