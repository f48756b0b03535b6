"""Read expressions on released values: HAVING, ORDER BY and computed columns. They never see a row
of the table.

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
from ..tables.expr.expressions import Expr, call, col
from ..tables.expr.expressions import Literal as Constant
from ..tables.expr.types import Type
from . import sql_refusals as refusals
from .released.window_calls import read_window
from .row_expressions import RowReader
from .sql_constants import engine_constant, read_constant, read_fraction
from .sql_functions import spelling_of
from .sql_text import Node, SqlText, arguments

Sort = Literal["number", "truth", "key", "constant"]


@dataclass(frozen=True, slots=True, eq=False)
class AnswerExpression:
    """An operation on released values. `value` is a number, a constant, or the name of an aggregate
    or of a key.
    """

    op: str
    sort: Sort
    args: tuple[AnswerExpression, ...] = ()
    value: Any = None

    @property
    def aggregates(self) -> set[str]:
        """Return the names of the aggregates in the expression."""
        return (
            {self.value}
            if self.op == "aggregate"
            else set().union(*(arg.aggregates for arg in self.args))
        )

    @property
    def has_window(self) -> bool:
        """Tell whether the expression looks at several groups."""
        return self.op == "window" or any(arg.has_window for arg in self.args)


@dataclass(frozen=True, slots=True)
class AnswerNames:
    """Finds the aggregate, key or answer column that a node of the text names, if any."""

    find: Callable[[Node], AnswerExpression | None]
    types: Mapping[str, Type]  # of keys


ARITHMETIC = (
    *("+", "-", "*", "/", "negate", "abs", "floor", "ceil", "sqrt"),
    *("nullif", "least", "greatest", "coalesce"),
)
"""The functions of released numbers."""

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
LOGIC = ("and", "or", "not")

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


def read_answer_expression(node: Node, names: AnswerNames, scalars: RowReader) -> AnswerExpression:
    """Read a node as an expression on released values."""
    source = scalars.source
    expression = names.find(node)
    if expression is not None:
        return expression
    if isinstance(node, exp.Paren):
        return read_answer_expression(node.this, names, scalars)
    bare = node.this if isinstance(node, exp.Neg) else node
    if isinstance(bare, exp.Literal) and not bare.is_string:
        return AnswerExpression(
            "number", "number", value=read_fraction(node, scalars.parameters, "a number")
        )
    if isinstance(node, exp.Window):
        return _read_window(node, names, scalars)
    if isinstance(node, exp.Column):
        raise source.refuse(refusals.VALUE_NOT_RELEASED, node)
    if (fixed := read_constant(node, scalars.parameters)) is not None:
        return _constant(fixed)
    spelling = spelling_of(node)
    op, places = (spelling.function.name, spelling.places) if spelling else ("", ())
    if op in ARITHMETIC or op in LOGIC:
        sort: Sort = "number" if op in ARITHMETIC else "truth"
        operands = _read_arguments(node, places, source)
        return AnswerExpression(
            op, sort, tuple(_read_sort(part, sort, names, scalars) for part in operands)
        )
    if isinstance(node, exp.Round):
        digits = node.args.get("decimals")
        shown = (
            Fraction(0)
            if digits is None
            else read_fraction(digits, scalars.parameters, "a number of digits")
        )
        if shown.denominator != 1 or not -15 <= shown <= 15:
            raise source.refuse(refusals.ROUND_DIGITS, node)
        return AnswerExpression(
            "round",
            "number",
            (
                _read_sort(node.this, "number", names, scalars),
                AnswerExpression("number", "number", value=shown),
            ),
        )
    # DATE '2026-01-31'
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
        moment = scalars.read(node, lambda column: col(column.name))
        if not isinstance(moment, Constant):
            raise source.refuse(refusals.MOMENT_NOT_CONSTANT, node)
        return _constant(moment)
    if (
        isinstance(node, exp.Cast)
        and isinstance(node.args["to"].this, exp.DataType.Type)
        and node.args["to"].this.name in _NUMBERS
    ):
        inner = _read_sort(node.this, "number", names, scalars)
        rounding = _NUMBERS[node.args["to"].this.name]
        return (
            inner
            if rounding is None
            else AnswerExpression(
                "round", "number", (inner, AnswerExpression("number", "number", value=Fraction(0)))
            )
        )
    if op in COMPARISONS:
        left, right = (
            read_answer_expression(part, names, scalars)
            for part in _read_arguments(node, places, source)
        )
        return _comparison(op, left, right, node, names, source)
    if isinstance(node, exp.Between):
        value, low, high = (
            read_answer_expression(part, names, scalars)
            for part in _read_arguments(node, ("this", "low", "high"), source)
        )
        ends = (
            _comparison(">=", value, low, node, names, source),
            _comparison("<=", value, high, node, names, source),
        )
        return AnswerExpression("and", "truth", ends)
    if isinstance(node, exp.In) and node.expressions:
        value, *options = (
            read_answer_expression(part, names, scalars)
            for part in _read_arguments(node, ("this", "expressions"), source)
        )
        expression = _comparison("=", value, options[0], node, names, source)
        for option in options[1:]:
            expression = AnswerExpression(
                "or", "truth", (expression, _comparison("=", value, option, node, names, source))
            )
        return expression
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return AnswerExpression(
            "is_null", "truth", (read_answer_expression(node.this, names, scalars),)
        )
    raise (
        scalars.refuse_unsupported(node)
        if type(node) not in _ROWWISE
        else source.refuse(refusals.OPERATION_UNSUPPORTED, node)
    )


def _read_window(node: exp.Window, names: AnswerNames, scalars: RowReader) -> AnswerExpression:
    """Read a window over released groups."""
    call, parts = read_window(node, scalars)
    args = [read_answer_expression(part, names, scalars) for part in parts]
    for part, arg in zip(parts[: call.operands], args, strict=False):
        if arg.sort != "number":
            raise scalars.source.refuse(refusals.KEY_IN_EXPRESSION, part)
    for part, arg in zip(parts[call.operands :], args[call.operands :], strict=True):
        if arg.sort not in ("number", "key", "truth") or arg.op == "number":
            raise scalars.source.refuse(refusals.ORDER_NOT_RELEASED, part)
    return AnswerExpression("window", "number", tuple(args), call)


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


def _read_arguments(node: Node, places: tuple[str, ...], source: SqlText) -> list[Node]:
    more = set(arguments(node)) - set(places) - _FLAGS
    if more:
        raise source.refuse(
            refusals.CONSTRUCT_ARGUMENT,
            node,
            construct=type(node).__name__.upper(),
            argument=min(more),
        )
    operands: list[Node] = []
    for place in places:
        value = node.args.get(place)
        operands += value if isinstance(value, list) else [] if value is None else [value]
    return operands


def _read_sort(node: Node, sort: Sort, names: AnswerNames, scalars: RowReader) -> AnswerExpression:
    expression = read_answer_expression(node, names, scalars)
    if expression.sort == sort:
        return expression
    entry = (
        refusals.KEY_IN_EXPRESSION
        if expression.sort == "key"
        else refusals.NUMBER_NEEDED
        if sort == "number"
        else refusals.CONDITION_NEEDED
    )
    raise scalars.source.refuse(entry, node)


def _constant(fixed: Expr) -> AnswerExpression:
    assert isinstance(fixed, Constant)
    value = fixed.value
    if isinstance(value, bool):
        return AnswerExpression("truth", "truth", value=value)
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return AnswerExpression("number", "number", value=Fraction(value))
    return AnswerExpression("constant", "constant", value=value)


def _comparison(
    op: str,
    left: AnswerExpression,
    right: AnswerExpression,
    node: Node,
    names: AnswerNames,
    source: SqlText,
) -> AnswerExpression:
    """Compare numbers with numbers, and keys with constants of their type. Checks the types as for
    a condition on rows.
    """
    sorts = {left.sort, right.sort}
    if "key" not in sorts:
        if sorts != {"number"}:
            raise source.refuse(refusals.KINDS_COMPARED, node)
        return AnswerExpression(op, "truth", (left, right))
    try:
        call(
            op, *(col(side.value) if side.sort == "key" else _plain(side) for side in (left, right))
        ).type(names.types)
        sides = (_convert_constant(left, right, names), _convert_constant(right, left, names))
    except Refused as refusal:
        raise source.relocate(refusal, node, source.example) from None
    return AnswerExpression(op, "truth", sides)


def _convert_constant(
    side: AnswerExpression, key: AnswerExpression, names: AnswerNames
) -> AnswerExpression:
    """Convert one side of a comparison: a text next to a key that is a date, time or uuid becomes
    one now, before anything is paid.
    """
    key_type = names.types.get(key.value) if key.sort == "key" else None
    if (
        side.sort != "constant"
        or not isinstance(side.value, str)
        or key_type is None
        or key_type.kind not in ("date", "timestamp", "uuid")
    ):
        return side
    return replace(side, value=constants.parse_text(side.value, key_type, "HAVING"))


def _plain(side: AnswerExpression) -> object:
    return engine_constant(side.value) if side.sort != "truth" else bool(side.value)
