"""Read IN (SELECT …) and EXISTS in WHERE: keep rows that match some row of a sub-query, or none.

*Where*    They stand alone or next to other conditions with AND. Inside OR, CASE or NOT (…) they
           are refused.
*Public*   Any SELECT of public tables without aggregates. NOT IN treats nulls as SQL does: with a
           null in the list no value is known to be absent.
*People*   A sub-query of protected rows may look at rows of the same unit alone: `user_id IN
           (SELECT user_id FROM …)`, `EXISTS (… WHERE s.user_id = v.user_id …)`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import ColumnRef
from ..tables.query.join_steps import MatchKind
from ..tables.query.joins import check_related, match_rows
from . import sql_refusals as refusals
from .join_clause import conjunction, conjuncts, split_conditions
from .scope import Scope, has_aggregate
from .sql_text import Node

if TYPE_CHECKING:
    from .from_clause import FromReader, NamedScopes

_READ = frozenset({"expressions", "from_", "joins", "where"})


def apply_where(scope: Scope, node: Node, from_reader: FromReader, scopes: NamedScopes) -> Scope:
    """Keep the rows that meet a condition."""
    parts = conjuncts(node)
    tests = [part for part in parts if _find_test(part) is not None]
    if not tests:
        return scope.where(node, from_reader.scalars)
    plain = tuple(
        scope.read(part, from_reader.scalars) for part in parts if _find_test(part) is None
    )
    source = from_reader.source
    try:
        condition = conjunction(plain)
        scope = scope if condition is None else replace(scope, rows=scope.rows.where(condition))
    except Refused as refusal:
        raise source.relocate(refusal, node, source.example) from None
    for part in tests:
        try:
            scope = _apply_test(scope, part, from_reader, scopes)
        except Refused as refusal:
            raise (
                refusal if "\n" in refusal.place else source.relocate(refusal, part, source.example)
            ) from None
    return scope


def _find_test(node: Node) -> tuple[Node, bool] | None:
    """Return the IN or EXISTS of a condition, and whether it is negated; None for others."""
    if isinstance(node, exp.Paren):
        return _find_test(node.this)
    if isinstance(node, exp.Not):
        inner = _find_test(node.this)
        return None if inner is None or inner[1] else (inner[0], True)
    if isinstance(node, exp.Exists) or (
        isinstance(node, exp.In) and node.args.get("query") is not None
    ):
        return node, False
    return None


def _apply_test(scope: Scope, part: Node, from_reader: FromReader, scopes: NamedScopes) -> Scope:
    test = _find_test(part)
    assert test is not None
    node, negated = test
    kind: MatchKind = "anti" if negated else "semi"
    if isinstance(node, exp.Exists):
        from_reader.check_arguments(node, frozenset({"this"}))
        select = node.this
        if not isinstance(select, exp.Select):
            raise from_reader.scalars.refuse_unsupported(node)
        from_reader.check_arguments(select, _READ)
        if any(has_aggregate(item) for item in select.expressions):
            raise from_reader.source.refuse(refusals.EXISTS_AGGREGATE, node)
        there = from_reader.from_(select, scopes)
        check_related(scope.rows, there.rows)
        where = select.args.get("where")
        conditions = split_conditions(
            [] if where is None else conjuncts(where.this),
            scope,
            there,
            from_reader.scalars,
            inner=True,
        )
        return replace(
            scope,
            rows=match_rows(
                scope.rows,
                conditions.there.rows,
                conditions.pairs,
                kind,
                conjunction(conditions.rest),
            ),
        )
    from_reader.check_arguments(node, frozenset({"this", "query"}))
    there = from_reader.rows_of(node.args["query"], scopes, node)
    if len(there.names) != 1:
        raise from_reader.source.refuse(refusals.IN_COLUMNS, node)
    (value,) = there.names.values()
    rows = there.rows
    if not isinstance(value, ColumnRef) and not rows.public:
        raise from_reader.source.refuse(refusals.IN_EXPRESSION, node)
    searched = scope.read(node.this, from_reader.scalars)
    check_related(scope.rows, rows)
    if negated and not rows.public and not scope.unit(searched):
        raise from_reader.source.refuse(refusals.NOT_IN_SHARED_VALUES, node)
    return replace(
        scope,
        rows=match_rows(
            scope.rows, rows, ((searched, value),), kind, nulls=negated and rows.public
        ),
    )
