"""IN and EXISTS of a SELECT, in WHERE: rows for which other rows have one that fits, or none.

*Where*    They stand by themselves or beside other conditions, with AND. Inside OR, CASE or NOT (…)
           they are refused.
*Public*   Any SELECT of public tables without aggregates. NOT IN minds nulls as SQL does: beside a
           null nothing is known not to be there.
*People*   Of protected rows only those of the same unit may be looked at: `user_id IN (SELECT
           user_id FROM …)`, `EXISTS (… WHERE s.user_id = v.user_id …)`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Column
from ..tables.query.joins import match, related
from .join_clause import conditions, conjuncts, together
from .scope import Scope, has_aggregate
from .sql_text import Node

if TYPE_CHECKING:
    from .from_clause import Relation, Relations

_READ = frozenset({"expressions", "from_", "joins", "where"})


def filtered(scope: Scope, node: Node, relation: Relation, known: Relations) -> Scope:
    """The rows that meet a condition."""
    parts = conjuncts(node)
    tests = [part for part in parts if _test(part) is not None]
    if not tests:
        return scope.where(node, relation.scalars)
    plain = tuple(scope.read(part, relation.scalars) for part in parts if _test(part) is None)
    source = relation.source
    try:
        scope = scope if not plain else replace(scope, rows=scope.rows.where(together(plain)))  # type: ignore[arg-type]
    except Refused as refusal:
        raise source.moved(refusal, node, source.example) from None
    for part in tests:
        try:
            scope = _tested(scope, part, relation, known)
        except Refused as refusal:
            raise (
                refusal if "\n" in refusal.place else source.moved(refusal, part, source.example)
            ) from None
    return scope


def _test(node: Node) -> tuple[Node, bool] | None:
    """A test of other rows, and whether it is to fail."""
    if isinstance(node, exp.Paren):
        return _test(node.this)
    if isinstance(node, exp.Not):
        inner = _test(node.this)
        return None if inner is None or inner[1] else (inner[0], True)
    if isinstance(node, exp.Exists) or (
        isinstance(node, exp.In) and node.args.get("query") is not None
    ):
        return node, False
    return None


def _tested(scope: Scope, part: Node, relation: Relation, known: Relations) -> Scope:
    found = _test(part)
    assert found is not None
    node, negated = found
    kind = "anti" if negated else "semi"
    if isinstance(node, exp.Exists):
        relation.closed(node, frozenset({"this"}))
        select = node.this
        if not isinstance(select, exp.Select):
            raise relation.scalars.unsupported(node)
        relation.closed(select, _READ)
        if any(has_aggregate(item) for item in select.expressions):
            raise relation.source.refuse(
                "sql.subquery",
                node,
                "",
                "an aggregate of no rows is a row as well: EXISTS would always hold",
                relation.source.example,
            )
        there = relation.from_(select, known)
        related(scope.rows, there.rows)
        where = select.args.get("where")
        wanted = conditions(
            [] if where is None else conjuncts(where.this),
            scope,
            there,
            relation.scalars,
            inner=True,
        )
        return replace(
            scope,
            rows=match(scope.rows, wanted.there.rows, wanted.pairs, kind, together(wanted.rest)),  # type: ignore[arg-type]
        )
    relation.closed(node, frozenset({"this", "query"}))
    there = relation.rows_of(node.args["query"], known, node)
    if len(there.names) != 1:
        raise relation.source.refuse(
            "sql.subquery",
            node,
            "",
            "what a value is looked for in is one column",
            relation.source.example,
        )
    (value,) = there.names.values()
    rows = there.rows
    if not isinstance(value, Column) and not rows.public:
        raise relation.source.refuse(
            "sql.subquery",
            node,
            "",
            "of protected rows only the unit is looked for",
            relation.source.example,
        )
    one = scope.read(node.this, relation.scalars)
    related(scope.rows, rows)
    if negated and not rows.public and not scope.unit(one):
        reason = (
            "NOT IN asks whether a value is nowhere: of protected rows only the unit is "
            "known to be nobody else's"
        )
        raise relation.source.refuse("sql.subquery", node, "", reason, relation.source.example)
    return replace(
        scope,
        rows=match(scope.rows, rows, ((one, value),), kind, nulls=negated and rows.public),  # type: ignore[arg-type]
    )
