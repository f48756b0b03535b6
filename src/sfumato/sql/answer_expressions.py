"""Arithmetic, comparisons and order of what was released: HAVING, ORDER BY and computed columns.
Nothing of it sees a row of the table.

*Numbers*   `SUM(x) / COUNT(*)` is computed from the released sum and the released count; its
            interval follows by interval arithmetic.
*Logic*     is SQL's, with a null where something has no value.
*Keys*      are compared with constants of their type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from ..errors import Refused
from ..tables.expr import constants
from ..tables.expr.expressions import Literal as Constant
from ..tables.expr.expressions import call, col
from ..tables.expr.types import Type
from .row_expressions import Scalars
from .sql_constants import constant, fraction, plain
from .sql_text import Node, Source, arguments

Sort = Literal["number", "truth", "key", "constant"]


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """An operation on released values. `value` is a number, a constant, or the name of an aggregate
    or a key.
    """

    op: str
    sort: Sort
    args: tuple[Released, ...] = ()
    value: Any = None

    @property
    def aggregates(self) -> set[str]:
        """The names of the aggregates that it is computed from."""
        return (
            {self.value}
            if self.op == "aggregate"
            else set().union(*(arg.aggregates for arg in self.args))
        )


@dataclass(frozen=True, slots=True)
class Names:
    """What stands for a node of the text: the aggregate, key or column of the answer that it is, if
    it is one.
    """

    find: Callable[[Node], Released | None]
    types: Mapping[str, Type]  # of keys


ARITHMETIC: Mapping[type[Node], tuple[str, tuple[str, ...]]] = {
    exp.Add: ("+", ("this", "expression")),
    exp.Sub: ("-", ("this", "expression")),
    exp.Mul: ("*", ("this", "expression")),
    exp.Div: ("/", ("this", "expression")),
    exp.Neg: ("negate", ("this",)),
    exp.Abs: ("abs", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Least: ("least", ("this", "expressions")),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
}
"""What may be computed from released numbers."""

COMPARISONS: Mapping[type[Node], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
LOGIC: Mapping[type[Node], tuple[str, tuple[str, ...]]] = {
    exp.And: ("and", ("this", "expression")),
    exp.Or: ("or", ("this", "expression")),
    exp.Not: ("not", ("this",)),
}

_FLAGS = frozenset({"safe", "typed", "ignore_nulls", "big_int"})
_NUMBERS = {
    "DOUBLE": None,
    "FLOAT": None,
    "DECIMAL": None,
    "INT": 0,
    "BIGINT": 0,
    "SMALLINT": 0,
    "TINYINT": 0,
}


def read(node: Node, names: Names, scalars: Scalars) -> Released:
    """What a node says about released values."""
    source = scalars.source
    found = names.find(node)
    if found is not None:
        return found
    kind = type(node)
    if isinstance(node, exp.Paren):
        return read(node.this, names, scalars)
    bare = node.this if isinstance(node, exp.Neg) else node
    if isinstance(bare, exp.Literal) and not bare.is_string:
        return Released("number", "number", value=fraction(node, scalars.parameters, "a number"))
    if isinstance(node, exp.Column):
        reason = "only what is released can be used here: keys, aggregates and their aliases"
        raise source.refuse(
            "sql.released", node, "this is a value of a row", reason, source.example
        )
    if (fixed := constant(node, scalars.parameters)) is not None:
        return _constant(fixed)
    if kind in ARITHMETIC:
        op, places = ARITHMETIC[kind]
        return Released(
            op,
            "number",
            tuple(_of(part, "number", names, scalars) for part in _parts(node, places, source)),
        )
    if isinstance(node, exp.Round):
        digits = node.args.get("decimals")
        shown = (
            Fraction(0)
            if digits is None
            else fraction(digits, scalars.parameters, "a number of digits")
        )
        if shown.denominator != 1 or not -15 <= shown <= 15:
            raise source.refuse(
                "sql.released", node, "", "digits are a whole number from -15 to 15", "ROUND(x, 2)"
            )
        return Released(
            "round",
            "number",
            (_of(node.this, "number", names, scalars), Released("number", "number", value=shown)),
        )
    if (
        isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string
    ):  # DATE '2026-01-31'
        moment = scalars.read(node, lambda column: col(column.name))
        if not isinstance(moment, Constant):
            raise source.refuse(
                "sql.released", node, "", "a constant is written as what it is", source.example
            )
        return _constant(moment)
    if (
        isinstance(node, exp.Cast)
        and isinstance(node.args["to"].this, exp.DataType.Type)
        and node.args["to"].this.name in _NUMBERS
    ):
        inner = _of(node.this, "number", names, scalars)
        whole = _NUMBERS[node.args["to"].this.name]
        return (
            inner
            if whole is None
            else Released(
                "round", "number", (inner, Released("number", "number", value=Fraction(0)))
            )
        )
    if kind in LOGIC:
        op, places = LOGIC[kind]
        return Released(
            op,
            "truth",
            tuple(_of(part, "truth", names, scalars) for part in _parts(node, places, source)),
        )
    if kind in COMPARISONS:
        one, other = (
            read(part, names, scalars) for part in _parts(node, ("this", "expression"), source)
        )
        return _compared(COMPARISONS[kind], one, other, node, names, source)
    if isinstance(node, exp.Between):
        value, low, high = (
            read(part, names, scalars) for part in _parts(node, ("this", "low", "high"), source)
        )
        ends = (
            _compared(">=", value, low, node, names, source),
            _compared("<=", value, high, node, names, source),
        )
        return Released("and", "truth", ends)
    if isinstance(node, exp.In) and node.expressions:
        value, *options = (
            read(part, names, scalars) for part in _parts(node, ("this", "expressions"), source)
        )
        found = _compared("=", value, options[0], node, names, source)
        for option in options[1:]:
            found = Released(
                "or", "truth", (found, _compared("=", value, option, node, names, source))
            )
        return found
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return Released("is_null", "truth", (read(node.this, names, scalars),))
    raise (
        scalars.unsupported(node)
        if type(node) not in _ROWWISE
        else source.refuse(
            "sql.released",
            node,
            "",
            "of released values there are sums, products, quotients, roundings and comparisons",
            source.example,
        )
    )


_ROWWISE = (
    exp.Like,
    exp.ILike,
    exp.Case,
    exp.If,
    exp.IntDiv,
    exp.Mod,
    exp.Pow,
    exp.Cast,
    exp.TryCast,
    exp.Ln,
    exp.Exp,
    exp.Upper,
    exp.Lower,
)


def _parts(node: Node, places: tuple[str, ...], source: Source) -> list[Node]:
    more = set(arguments(node)) - set(places) - _FLAGS
    if more:
        raise source.refuse(
            "sql.unsupported",
            node,
            "",
            f"{type(node).__name__.upper()} with {min(more)} is not on the list",
            source.example,
        )
    found: list[Node] = []
    for place in places:
        value = node.args.get(place)
        found += value if isinstance(value, list) else [] if value is None else [value]
    return found


def _of(node: Node, sort: Sort, names: Names, scalars: Scalars) -> Released:
    found = read(node, names, scalars)
    if found.sort == sort:
        return found
    words = {"number": "a released number", "truth": "a condition on released values"}[sort]
    reason = f"this has to be {words}" + (
        ": a key is shown as it is, and computed in GROUP BY" if found.sort == "key" else ""
    )
    raise scalars.source.refuse("sql.released", node, "", reason, scalars.source.example)


def _constant(fixed: Any) -> Released:
    assert isinstance(fixed, Constant)
    value = fixed.value
    if isinstance(value, bool):
        return Released("truth", "truth", value=value)
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return Released("number", "number", value=Fraction(value))
    return Released("constant", "constant", value=value)


def _compared(
    op: str, one: Released, other: Released, node: Node, names: Names, source: Source
) -> Released:
    """Numbers with numbers; keys with constants of their type, which is checked as a condition on
    rows would be.
    """
    sorts = {one.sort, other.sort}
    if "key" not in sorts:
        if sorts != {"number"}:
            raise source.refuse(
                "sql.released", node, "", "numbers are compared with numbers", source.example
            )
        return Released(op, "truth", (one, other))
    try:
        call(
            op, *(col(side.value) if side.sort == "key" else _plain(side) for side in (one, other))
        ).type(names.types)
        sides = (_beside(one, other, names), _beside(other, one, names))
    except Refused as refusal:
        raise source.moved(refusal, node, source.example) from None
    return Released(op, "truth", sides)


def _beside(side: Released, key: Released, names: Names) -> Released:
    """One side of a comparison; a text beside a key that is a moment or a uuid is read as one, now,
    before anything is paid for.
    """
    known = names.types.get(key.value) if key.sort == "key" else None
    if (
        side.sort != "constant"
        or not isinstance(side.value, str)
        or known is None
        or known.kind not in ("date", "timestamp", "uuid")
    ):
        return side
    return replace(side, value=constants.read(side.value, known, "HAVING"))


def _plain(side: Released) -> Any:
    return plain(side.value) if side.sort != "truth" else bool(side.value)
