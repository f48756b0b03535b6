"""Read JOIN: combine two scopes, with the column names of both.

*Sides*       The protected side comes first: the text may name a public table before or after it,
              and RIGHT JOIN is LEFT JOIN from the other side.
*Conditions*  ON is split at its ANDs. An equation between the sides joins rows; a condition on the
              right side alone filters its rows; the rest filters joined rows, or in a LEFT JOIN is
              part of the join.
*Names*       A name that both sides have needs its table. After USING it is the first side's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from ..errors import RefusalText, Refused
from ..tables.expr.column_names import unused_name
from ..tables.expr.expressions import ColumnRef, Expr, Literal, call, col
from ..tables.query.join_steps import Pairs
from ..tables.query.joins import check_related, join_rows, match_rows
from ..tables.query.renaming import rename_columns, right_names
from ..tables.query.stages import Rows
from . import sql_refusals as refusals
from .rewrites.rewrite_parts import join_using
from .rewrites.rewrite_trees import write
from .row_expressions import RowReader
from .scope import Scope, identifier, quoted
from .sql_text import Node, SqlText

METHODS: Mapping[str, RefusalText] = {
    "NATURAL": refusals.NATURAL_JOIN,
    "ASOF": refusals.ASOF_JOIN,
    "POSITIONAL": refusals.POSITIONAL_JOIN,
}
KINDS: Mapping[tuple[str, str], str] = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("", "CROSS"): "cross",
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT", ""): "right",
    ("RIGHT", "OUTER"): "right",
    ("", "SEMI"): "semi",
    ("LEFT", "SEMI"): "semi",
    ("", "ANTI"): "anti",
    ("LEFT", "ANTI"): "anti",
}
"""The joins that this package reads, by side and kind."""


@dataclass(frozen=True, slots=True, eq=False)
class JoinConditions:
    """The conditions of a join: pairs of equal expressions, the filtered right side, and the other
    conditions on two rows.
    """

    pairs: Pairs
    there: Scope
    rest: tuple[Expr, ...]


def join_scopes(left: Scope, right: Scope, node: exp.Join, scalars: RowReader) -> Scope:
    """Join two scopes."""
    source, how = scalars.source, _read_kind(left, right, node, scalars)
    twice = set(left.tables) & set(right.tables)
    if twice:
        raise source.refuse(refusals.TABLE_NAME_TWICE, node.this, name=min(twice))
    swapped = how == "right" or (
        how in ("inner", "cross") and left.rows.public and not right.rows.public
    )
    here, there = (right, left) if swapped else (left, right)
    how = "left" if how == "right" else how
    if here.rows.public and not there.rows.public:
        raise source.refuse(refusals.PUBLIC_ROWS_KEPT, node.this, table=here.rows.declaration.name)
    if how == "left":
        there = compute_columns(there)
    try:
        check_related(here.rows, there.rows)
        conditions = (
            _read_using(here, there, node, scalars)
            if node.args.get("using")
            else _read_on(here, there, node, scalars)
        )
        if how in ("semi", "anti"):
            return replace(
                here,
                rows=match_rows(
                    here.rows,
                    conditions.there.rows,
                    conditions.pairs,
                    "semi" if how == "semi" else "anti",
                    conjunction(conditions.rest),
                ),
            )
        if (
            how == "inner"
            and not conditions.pairs
            and (conditions.there.rows.public or node.args.get("on") is None)
        ):
            how = "cross"
        inside = conjunction(conditions.rest) if how == "left" else None
        rows, names = join_rows(here.rows, conditions.there.rows, conditions.pairs, how, inside)
        before = {
            new: names[old]
            for old, new in right_names(here.rows.schema, conditions.there.rows.schema).items()
        }
        for condition in () if how == "left" else conditions.rest:
            rows = rows.where(rename_columns(condition, before))
    except Refused as refusal:
        raise (
            refusal
            if "\n" in refusal.place
            else source.relocate(
                refusal, node.this, _suggest_unit_join(refusal, here, there, node, source)
            )
        ) from None
    there_joined = Scope(
        rows,
        {
            name: rename_columns(expression, names)
            for name, expression in conditions.there.names.items()
        },
        conditions.there.called,
        _rename_tables(conditions.there.parts, names),
    )
    first, second = (there_joined, here) if swapped else (here, there_joined)
    return _merge_names(
        rows, first, second, {identifier(name) or "" for name in node.args.get("using") or []}, here
    )


def combined_scope(here: Scope, there: Scope, *, inner: bool = False) -> Scope:
    """Return a scope with the names of both sides, before they are joined. With `inner`, a name
    that both have is the right side's.
    """
    names = right_names(here.rows.schema, there.rows.schema)
    schema = {
        **here.rows.schema,
        **{names[name]: column_type for name, column_type in there.rows.schema.items()},
    }
    there_names = {
        name: rename_columns(expression, names) for name, expression in there.names.items()
    }
    tables = {
        **here.tables,
        **{
            table: {name: rename_columns(expression, names) for name, expression in columns.items()}
            for table, columns in there.tables.items()
        },
    }
    rows = replace(here.rows, schema=schema)
    if inner:
        hidden = {name.lower() for name in there_names}
        return Scope(
            rows,
            {
                **{
                    name: expression
                    for name, expression in here.names.items()
                    if name.lower() not in hidden
                },
                **there_names,
            },
            frozenset(),
            tables,
            here.twice - hidden,
        )
    return replace(
        _merge_names(rows, here, Scope(rows, there_names, there.called), set(), here), parts=tables
    )


def split_conditions(
    nodes: list[Node], here: Scope, there: Scope, scalars: RowReader, *, inner: bool = False
) -> JoinConditions:
    """Split conditions on two rows into pairs of equal expressions, filters of the right side, and
    the rest.
    """
    scope = combined_scope(here, there, inner=inner)
    names = right_names(here.rows.schema, there.rows.schema)
    back = {new: old for old, new in names.items()}
    pairs: list[tuple[Expr, Expr]] = []
    rest: list[Expr] = []
    rows = there.rows
    for node in nodes:
        expression = scope.read(node, scalars)
        if isinstance(expression, Literal) and expression.value is True:
            continue
        if isinstance(node, exp.EQ):
            sides = [scope.read(side, scalars) for side in (node.this, node.expression)]
            kinds = [_side(side, back) for side in sides]
            if sorted(kinds) == ["here", "there"]:
                ours, theirs = sides if kinds[0] == "here" else sides[::-1]
                pairs.append((ours, rename_columns(theirs, back)))
                continue
        if _side(expression, back) == "there":
            rows = rows.where(rename_columns(expression, back))
        else:
            rest.append(expression)
    return JoinConditions(tuple(pairs), replace(there, rows=rows), tuple(rest))


def conjuncts(node: Node) -> list[Node]:
    """Split a condition at its ANDs."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    return (
        [*conjuncts(node.this), *conjuncts(node.expression)]
        if isinstance(node, exp.And)
        else [node]
    )


def conjunction(conditions: tuple[Expr, ...]) -> Expr | None:
    return (
        None
        if not conditions
        else conditions[0]
        if len(conditions) == 1
        else call("and", *conditions)
    )


def compute_columns(scope: Scope) -> Scope:
    """Compute the columns of a sub-query before a LEFT JOIN: without a match they are null,
    whatever their expressions would give for nulls.
    """
    rows, names = scope.rows, dict(scope.names)
    for name, expression in scope.names.items():
        if not isinstance(expression, ColumnRef):
            new_name = unused_name(name, {column.lower() for column in rows.schema})
            rows, names[name] = rows.mutate(**{new_name: expression}), col(new_name)
    return replace(scope, rows=rows, names=names)


def _read_kind(left: Scope, right: Scope, node: exp.Join, scalars: RowReader) -> str:
    source = scalars.source
    method, side, kind = (
        str(node.args.get(name) or "").upper() for name in ("method", "side", "kind")
    )
    if method == "NATURAL":
        theirs = {name.lower() for name in right.names}
        shared = [name for name in left.names if name.lower() in theirs - left.twice]
        raise source.refuse(
            METHODS[method],
            node.this,
            corrected=write(join_using(node, shared)) if shared else source.example,
        )
    if method in METHODS:
        raise source.refuse(METHODS[method], node.this)
    if method:
        raise source.refuse(refusals.JOIN_UNSUPPORTED, node.this, kind=method)
    if side == "FULL":
        raise source.refuse(refusals.FULL_JOIN, node.this)
    join_kind = KINDS.get((side, kind))
    if join_kind is None:
        raise source.refuse(refusals.JOIN_UNSUPPORTED, node.this, kind=f"{side} {kind}".strip())
    if join_kind == "cross" and (node.args.get("on") is not None or node.args.get("using")):
        raise source.refuse(refusals.CROSS_JOIN_CONDITION, node.this)
    if (
        join_kind not in ("inner", "cross")
        and node.args.get("on") is None
        and not node.args.get("using")
    ):
        raise source.refuse(refusals.JOIN_WITHOUT_CONDITION, node.this)
    return join_kind


def _read_using(here: Scope, there: Scope, node: exp.Join, scalars: RowReader) -> JoinConditions:
    pairs = []
    for part in node.args["using"]:
        name = identifier(part) or ""
        ours, theirs = (
            None if name.lower() in side.twice else side.find(name) for side in (here, there)
        )
        if ours is None or theirs is None:
            raise scalars.source.refuse(refusals.USING_COLUMN, part)
        pairs.append((ours, theirs))
    return JoinConditions(tuple(pairs), there, ())


def _read_on(here: Scope, there: Scope, node: exp.Join, scalars: RowReader) -> JoinConditions:
    on = node.args.get("on")
    return (
        JoinConditions((), there, ())
        if on is None
        else split_conditions(conjuncts(on), here, there, scalars)
    )


def _side(expression: Expr, back: Mapping[str, str]) -> str:
    """Return which side's columns an expression reads: here, there, both or none."""
    if not expression.columns:
        return "none"
    return (
        "there"
        if expression.columns <= back.keys()
        else "both"
        if expression.columns & back.keys()
        else "here"
    )


def _merge_names(rows: Rows, first: Scope, second: Scope, using: set[str], here: Scope) -> Scope:
    """Merge the names of two scopes over the same rows."""
    shared = {name.lower() for name in using}
    first_names = {name.lower(): expression for name, expression in first.names.items()}
    alike = {
        name.lower() for name, expression in second.names.items() if name.lower() in first_names
    }
    same = {
        name.lower()
        for name, expression in second.names.items()
        if name.lower() in first_names and first_names[name.lower()].text == expression.text
    }
    names = {
        **first.names,
        **{
            name: expression
            for name, expression in second.names.items()
            if name.lower() not in alike
        },
    }
    for name in names:  # what rows were joined on is the side's whose rows are kept
        if name.lower() in shared and (joined_column := here.find(name)) is not None:
            names[name] = joined_column
    twice = ((first.twice | second.twice) - shared) | (alike - shared - same)
    return Scope(rows, names, frozenset(), {**first.tables, **second.tables}, frozenset(twice))


def _rename_tables(
    parts: Mapping[str, Mapping[str, Expr]], names: Mapping[str, str]
) -> dict[str, dict[str, Expr]]:
    return {
        table: {name: rename_columns(expression, names) for name, expression in columns.items()}
        for table, columns in parts.items()
    }


def _suggest_unit_join(
    refusal: Refused, here: Scope, there: Scope, node: exp.Join, source: SqlText
) -> str:
    """Return the text with a join on the unit if joined rows would have two owners, else the
    example.
    """
    if refusal.code != "join.ownership" or not here.rows.declaration.unit:
        return source.example
    sides = zip(here.rows.declaration.unit, there.rows.declaration.unit, strict=True)
    here_table, there_table = (
        quoted(next(iter(side.tables), side.rows.declaration.name)) for side in (here, there)
    )
    unit = " AND ".join(f"{here_table}.{quoted(a)} = {there_table}.{quoted(b)}" for a, b in sides)
    if (on := node.args.get("on")) is not None:
        return source.replace_text(on, f"{unit} AND ({source.words_of(on)})")
    return source.replace_text(node.this, f"{source.words_of(node.this)} ON {unit}")
