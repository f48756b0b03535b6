"""JOIN: two relations as one, with the names of both.

*Sides*       The protected side comes first: of a public table and a protected one the text may
              name either first, and RIGHT JOIN is LEFT JOIN from the other side.
*Conditions*  ON is taken apart at its ANDs. What makes an expression of one side equal to one of
              the other is what rows are joined on; what is about the other side alone is a
              condition on its rows; the rest is a condition on joined rows, or in a LEFT JOIN part
              of the join.
*Names*       A name that both sides have is said with its table. After USING it is the first
              side's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import free
from ..tables.expr.expressions import Column, Expr, Literal, call, col
from ..tables.expr.renaming import beside, renamed
from ..tables.query.join_steps import Pairs
from ..tables.query.joins import joined as join_rows
from ..tables.query.joins import match, related
from .row_expressions import Scalars
from .scope import Scope, identifier, quoted
from .sql_text import Node

METHODS: Mapping[str, str] = {
    "NATURAL": "on which columns it is depends on what columns there are: USING says it",
    "ASOF": "the nearest row is found by an order, and not by what a row says of itself",
    "POSITIONAL": "rows have no places",
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
"""Sides and kinds of joins that are read."""


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """What a join is on, the other rows that are left, and what is still to be asked of two rows,
    by the names that both have together.
    """

    pairs: Pairs
    there: Scope
    rest: tuple[Expr, ...]


def joined(left: Scope, right: Scope, node: exp.Join, scalars: Scalars) -> Scope:
    """Two relations as one."""
    source, how = scalars.source, _kind(node, scalars)
    twice = set(left.tables) & set(right.tables)
    if twice:
        reason = (
            f"two tables are called {min(twice):.60}: each has a name of its own, given with AS"
        )
        raise source.refuse("sql.names", node.this, "", reason, source.example)
    swapped = how == "right" or (
        how in ("inner", "cross") and left.rows.public and not right.rows.public
    )
    here, there = (right, left) if swapped else (left, right)
    how = "left" if how == "right" else how
    if here.rows.public and not there.rows.public:
        reason = (
            f"rows of {here.rows.declaration.name:.60} that nobody matches belong to nobody, "
            f"and would be counted as data"
        )
        raise source.refuse("sql.join", node.this, "", reason, source.example)
    if how == "left":
        there = computed(there)
    try:
        related(here.rows, there.rows)
        found = (
            _using(here, there, node, scalars)
            if node.args.get("using")
            else _on(here, there, node, scalars)
        )
        if how in ("semi", "anti"):
            return replace(
                here,
                rows=match(
                    here.rows,
                    found.there.rows,
                    found.pairs,
                    "semi" if how == "semi" else "anti",
                    together(found.rest),
                ),
            )
        if (
            how == "inner"
            and not found.pairs
            and (found.there.rows.public or node.args.get("on") is None)
        ):
            how = "cross"
        inside = together(found.rest) if how == "left" else None
        rows, names = join_rows(here.rows, found.there.rows, found.pairs, how, inside)
        before = {
            new: names[old]
            for old, new in beside(here.rows.schema, found.there.rows.schema).items()
        }
        for condition in () if how == "left" else found.rest:
            rows = rows.where(renamed(condition, before))
    except Refused as refusal:
        raise (
            refusal
            if "\n" in refusal.place
            else source.moved(refusal, node.this, _rewrite(refusal, here, there, source.example))
        ) from None
    other = Scope(
        rows,
        {name: renamed(made, names) for name, made in found.there.names.items()},
        found.there.called,
        _renamed(found.there.parts, names),
    )
    first, second = (other, here) if swapped else (here, other)
    return _beside(
        rows, first, second, {identifier(name) or "" for name in node.args.get("using") or []}, here
    )


def both(here: Scope, there: Scope, *, inner: bool = False) -> Scope:
    """The names of two relations, before they are joined; of a name that both have, the inner one
    is meant if there is one.
    """
    names = beside(here.rows.schema, there.rows.schema)
    schema = {
        **here.rows.schema,
        **{names[name]: known for name, known in there.rows.schema.items()},
    }
    other = {name: renamed(made, names) for name, made in there.names.items()}
    tables = {
        **here.tables,
        **{
            table: {name: renamed(made, names) for name, made in columns.items()}
            for table, columns in there.tables.items()
        },
    }
    rows = replace(here.rows, schema=schema)
    if inner:
        hidden = {name.lower() for name in other}
        return Scope(
            rows,
            {
                **{name: made for name, made in here.names.items() if name.lower() not in hidden},
                **other,
            },
            frozenset(),
            tables,
            here.twice - hidden,
        )
    return replace(_beside(rows, here, Scope(rows, other, there.called), set(), here), parts=tables)


def conditions(
    nodes: list[Node], here: Scope, there: Scope, scalars: Scalars, *, inner: bool = False
) -> Conditions:
    """The parts of a condition on two rows."""
    scope = both(here, there, inner=inner)
    names = beside(here.rows.schema, there.rows.schema)
    back = {new: old for old, new in names.items()}
    pairs: list[tuple[Expr, Expr]] = []
    rest: list[Expr] = []
    rows = there.rows
    for node in nodes:
        made = scope.read(node, scalars)
        if isinstance(made, Literal) and made.value is True:
            continue
        if isinstance(node, exp.EQ):
            sides = [scope.read(side, scalars) for side in (node.this, node.expression)]
            kinds = [_side(side, back) for side in sides]
            if sorted(kinds) == ["here", "there"]:
                one, two = sides if kinds[0] == "here" else sides[::-1]
                pairs.append((one, renamed(two, back)))
                continue
        if _side(made, back) == "there":
            rows = rows.where(renamed(made, back))
        else:
            rest.append(made)
    return Conditions(tuple(pairs), replace(there, rows=rows), tuple(rest))


def conjuncts(node: Node) -> list[Node]:
    """The parts that AND holds together."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    return (
        [*conjuncts(node.this), *conjuncts(node.expression)]
        if isinstance(node, exp.And)
        else [node]
    )


def together(conditions: tuple[Expr, ...]) -> Expr | None:
    return (
        None
        if not conditions
        else conditions[0]
        if len(conditions) == 1
        else call("and", *conditions)
    )


def computed(scope: Scope) -> Scope:
    """Columns that a sub-query computes, computed: where nothing matches they are null, whatever
    they would be of nulls.
    """
    rows, names = scope.rows, dict(scope.names)
    for name, made in scope.names.items():
        if not isinstance(made, Column):
            own = free(name, {column.lower() for column in rows.schema})
            rows, names[name] = rows.mutate(**{own: made}), col(own)
    return replace(scope, rows=rows, names=names)


def _kind(node: exp.Join, scalars: Scalars) -> str:
    source = scalars.source
    method, side, kind = (
        str(node.args.get(name) or "").upper() for name in ("method", "side", "kind")
    )
    if method:
        raise source.refuse(
            "sql.join",
            node.this,
            "",
            METHODS.get(method, "such a join is not on the list"),
            source.example,
        )
    if side == "FULL":
        reason = (
            "rows of both sides without a match would be kept: of a public table they are "
            "nobody's, of a protected one they have no common unit"
        )
        raise source.refuse("sql.join", node.this, "", reason, source.example)
    found = KINDS.get((side, kind))
    if found is None:
        raise source.refuse(
            "sql.join", node.this, "", "such a join is not on the list", source.example
        )
    if found == "cross" and (node.args.get("on") is not None or node.args.get("using")):
        raise source.refuse(
            "sql.join", node.this, "", "a cross join has no condition", source.example
        )
    if (
        found not in ("inner", "cross")
        and node.args.get("on") is None
        and not node.args.get("using")
    ):
        raise source.refuse(
            "sql.join", node.this, "", "on which columns are rows put together?", source.example
        )
    return found


def _using(here: Scope, there: Scope, node: exp.Join, scalars: Scalars) -> Conditions:
    pairs = []
    for part in node.args["using"]:
        name = identifier(part) or ""
        one, two = (
            None if name.lower() in side.twice else side.find(name) for side in (here, there)
        )
        if one is None or two is None:
            raise scalars.source.refuse(
                "sql.column",
                part,
                "",
                "USING names a column that each of the two sides has once",
                scalars.source.example,
            )
        pairs.append((one, two))
    return Conditions(tuple(pairs), there, ())


def _on(here: Scope, there: Scope, node: exp.Join, scalars: Scalars) -> Conditions:
    on = node.args.get("on")
    return (
        Conditions((), there, ()) if on is None else conditions(conjuncts(on), here, there, scalars)
    )


def _side(made: Expr, back: Mapping[str, str]) -> str:
    """Which rows an expression looks at."""
    if not made.columns:
        return "none"
    return (
        "there" if made.columns <= back.keys() else "both" if made.columns & back.keys() else "here"
    )


def _beside(rows: object, first: Scope, second: Scope, using: set[str], here: Scope) -> Scope:
    """The names of two scopes over the same rows."""
    shared = {name.lower() for name in using}
    known = {name.lower(): made for name, made in first.names.items()}
    alike = {name.lower() for name, made in second.names.items() if name.lower() in known}
    same = {
        name.lower()
        for name, made in second.names.items()
        if name.lower() in known and known[name.lower()].text == made.text
    }
    names = {
        **first.names,
        **{name: made for name, made in second.names.items() if name.lower() not in alike},
    }
    for name in names:  # what rows were joined on is the side's whose rows are kept
        if name.lower() in shared and (kept := here.find(name)) is not None:
            names[name] = kept
    twice = ((first.twice | second.twice) - shared) | (alike - shared - same)
    return Scope(rows, names, frozenset(), {**first.tables, **second.tables}, frozenset(twice))  # type: ignore[arg-type]


def _renamed(
    parts: Mapping[str, Mapping[str, Expr]], names: Mapping[str, str]
) -> dict[str, dict[str, Expr]]:
    return {
        table: {name: renamed(made, names) for name, made in columns.items()}
        for table, columns in parts.items()
    }


def _rewrite(refusal: Refused, here: Scope, there: Scope, example: str) -> str:
    """A condition that would do, where rows would have two owners."""
    if refusal.code != "join.ownership" or not here.rows.declaration.unit:
        return example
    sides = zip(here.rows.declaration.unit, there.rows.declaration.unit, strict=True)
    one, two = (
        quoted(next(iter(side.tables), side.rows.declaration.name)) for side in (here, there)
    )
    return "… ON " + " AND ".join(f"{one}.{quoted(a)} = {two}.{quoted(b)}" for a, b in sides)
