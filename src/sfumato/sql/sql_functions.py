"""The table of functions on the columns of one row: sqlglot's nodes, and the functions of
`tables.expr` that they become.

*Total*     The functions are those of `tables.expr.functions`: none of them can fail, whatever a
            row holds. CAST is TRY_CAST, division by zero is null.
*SQL's*     `//` and `%` round towards zero here, as in SQL; Python's operators of the same look
            round down, and are FLOOR_DIV and FLOOR_MOD.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from ..tables.expr.expressions import Expr, Literal, call, literal
from . import sql_refusals as refusals
from .datetimes import (
    Build,
    Read,
    add_or_shift,
    datetime_field,
    datetime_part,
    read_days,
    read_extract,
    read_trunc,
)
from .sql_constants import read_constant, read_moment
from .sql_text import Node, SqlText

if TYPE_CHECKING:
    from .row_expressions import RowReader

FLAGS: Mapping[type[Node], frozenset[str]] = {
    exp.Div: frozenset({"safe"}),
    exp.DPipe: frozenset({"safe"}),
    exp.Concat: frozenset({"safe", "coalesce"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
    exp.Least: frozenset({"ignore_nulls"}),
    exp.TryCast: frozenset({"safe", "to"}),
    exp.Cast: frozenset({"to"}),
    exp.DataType: frozenset({"this", "expressions"}),
    exp.TimestampTrunc: frozenset({"unit"}),
    exp.Interval: frozenset({"unit"}),
    exp.DateDiff: frozenset({"unit"}),
    exp.Extract: frozenset({"this"}),
    exp.Trim: frozenset({"position"}),
}
"""Arguments that sqlglot's dialect sets by itself, or that another function reads."""


def _function(name: str, *places: str) -> tuple[tuple[str, ...], Build]:
    """Read a function of these arguments, in this order."""
    return places, lambda node, read, _: call(
        name, *(read(node.args[place]) for place in places if node.args.get(place) is not None)
    )


def _binary(name: str, second: str = "expression") -> tuple[tuple[str, ...], Build]:
    """Read a function of two arguments, such as sqlglot's operators."""
    return _function(name, "this", second)


def _variadic(name: str) -> tuple[tuple[str, ...], Build]:
    """Read a function of any number of arguments: sqlglot's `this` and `expressions`."""

    def build(node: Node, read: Read, _: RowReader) -> Expr:
        operands = [*([node.this] if node.args.get("this") is not None else []), *node.expressions]
        return call(name, *map(read, operands)) if len(operands) > 1 else read(operands[0])

    return ("this", "expressions"), build


def _not(node: exp.Not, read: Read, _: RowReader) -> Expr:
    inner = node.this
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return call("not_null", read(inner.this))
    return call("not", read(inner))


def _is(node: exp.Is, read: Read, scalars: RowReader) -> Expr:
    if isinstance(node.expression, exp.Null):
        return call("is_null", read(node.this))
    if isinstance(node.expression, exp.Boolean):
        return call("identical", read(node.this), literal(bool(node.expression.this)))
    raise scalars.refuse_unsupported(node)


def _in(node: exp.In, read: Read, scalars: RowReader) -> Expr:
    listed = [
        read(item) if isinstance(item, exp.Cast) else read_constant(item, scalars.parameters)
        for item in node.expressions
    ]  # DATE '2026-01-31' is a cast
    if not listed or not all(isinstance(item, Literal) for item in listed):
        raise scalars.source.refuse(
            refusals.IN_NOT_CONSTANTS, node, corrected=_equations(node, scalars.source)
        )
    return call("is_in", read(node.this), *listed)


def _equations(node: exp.In, source: SqlText) -> str:
    """Return the text with x = a OR x = b in the place of x IN (a, b)."""
    if not node.expressions or isinstance(node.parent, exp.Not):
        return source.example
    value = source.words_of(node.this)
    equations = (f"{value} = {source.words_of(item)}" for item in node.expressions)
    return source.replace_text(node, f"({' OR '.join(equations)})")


def _case(node: exp.Case, read: Read, _: RowReader) -> Expr:
    parts: list[Expr] = []
    for branch in node.args["ifs"]:
        condition = (
            read(branch.this)
            if node.this is None
            else call("=", read(node.this), read(branch.this))
        )
        parts += [condition, read(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, literal(None) if default is None else read(default))


def _if(node: exp.If, read: Read, _: RowReader) -> Expr:
    otherwise = node.args.get("false")
    return call(
        "case",
        read(node.this),
        read(node.args["true"]),
        literal(None) if otherwise is None else read(otherwise),
    )


def _cast(node: exp.Cast, read: Read, scalars: RowReader) -> Expr:
    target = scalars.cast_type(node.args["to"])
    if (
        target.kind in ("date", "timestamp", "uuid")
        and isinstance(node.this, exp.Literal)
        and node.this.is_string
    ):
        return read_moment(str(node.this.this), target, scalars.source, node)
    return read(node.this).cast(target)


def _log(node: exp.Log, read: Read, scalars: RowReader) -> Expr:
    """Read LOG(x), to base 10; sqlglot parses LOG2(x) and LOG10(x) as LOG(base, x)."""
    if node.args.get("expression") is None:
        return call("log10", read(node.this))
    name = (
        {"10": "log10", "2": "log2"}.get(str(node.this.this))
        if isinstance(node.this, exp.Literal)
        else None
    )
    if name is None:
        base, value = (scalars.source.words_of(part) for part in (node.this, node.expression))
        rewrite = scalars.source.replace_text(node, f"(LN({value}) / LN({base}))")
        raise scalars.refuse_unsupported(node).replace(rewrite=rewrite)
    return call(name, read(node.expression))


def _round(node: exp.Round, read: Read, _: RowReader) -> Expr:
    digits = node.args.get("decimals")
    return call("round", read(node.this), literal(0) if digits is None else read(digits))


def _substring(node: exp.Substring, read: Read, _: RowReader) -> Expr:
    length = node.args.get("length")
    return call(
        "substr",
        read(node.this),
        read(node.args["start"]),
        literal(10**6) if length is None else read(length),
    )


def _trim(node: exp.Trim, read: Read, _: RowReader) -> Expr:
    return call(
        {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim"),
        read(node.this),
    )


def _concat(node: exp.Concat, read: Read, _: RowReader) -> Expr:
    """Read CONCAT, which skips nulls; || does not."""
    parts = [call("coalesce", read(part), literal("")) for part in node.expressions]
    return call("concat", *parts) if len(parts) > 1 else parts[0]


FUNCTION_NODES: Mapping[type[Node], tuple[tuple[str, ...], Build]] = {
    exp.Paren: (("this",), lambda node, read, _: read(node.this)),
    exp.And: _binary("and"),
    exp.Or: _binary("or"),
    exp.Not: (("this",), _not),
    exp.EQ: _binary("="),
    exp.NEQ: _binary("<>"),
    exp.LT: _binary("<"),
    exp.LTE: _binary("<="),
    exp.GT: _binary(">"),
    exp.GTE: _binary(">="),
    exp.Between: _function("between", "this", "low", "high"),
    exp.In: (("this", "expressions"), _in),
    exp.Is: (("this", "expression"), _is),
    exp.NullSafeEQ: _binary("identical"),
    exp.NullSafeNEQ: (
        ("this", "expression"),
        lambda node, read, _: call(
            "not", call("identical", read(node.this), read(node.expression))
        ),
    ),
    exp.Like: _binary("like"),
    exp.ILike: _binary("ilike"),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Coalesce: _variadic("coalesce"),
    exp.Nullif: _binary("nullif"),
    exp.Greatest: _variadic("greatest"),
    exp.Least: _variadic("least"),
    exp.Cast: (("this",), _cast),
    exp.TryCast: (("this",), _cast),
    exp.Add: add_or_shift(1, "+"),
    exp.Sub: add_or_shift(-1, "-"),
    exp.DateAdd: add_or_shift(1, ""),
    exp.DateSub: add_or_shift(-1, ""),
    exp.Mul: _binary("*"),
    exp.Div: _binary("/"),
    exp.IntDiv: _binary("div"),
    exp.Mod: _binary("mod"),
    exp.Pow: _binary("power"),
    exp.Neg: _function("negate", "this"),
    exp.Abs: _function("abs", "this"),
    exp.Sign: _function("sign", "this"),
    exp.Ceil: _function("ceil", "this"),
    exp.Floor: _function("floor", "this"),
    exp.Trunc: _function("trunc", "this"),
    exp.Round: (("this", "decimals"), _round),
    exp.Sqrt: _function("sqrt", "this"),
    exp.Exp: _function("exp", "this"),
    exp.Ln: _function("ln", "this"),
    exp.Log: (("this", "expression"), _log),
    exp.Sin: _function("sin", "this"),
    exp.Cos: _function("cos", "this"),
    exp.Tan: _function("tan", "this"),
    exp.Asin: _function("asin", "this"),
    exp.Acos: _function("acos", "this"),
    exp.Atan: _function("atan", "this"),
    exp.Atan2: _binary("atan2"),
    exp.Degrees: _function("degrees", "this"),
    exp.Radians: _function("radians", "this"),
    exp.Upper: _function("upper", "this"),
    exp.Lower: _function("lower", "this"),
    exp.Length: _function("length", "this"),
    exp.Substring: (("this", "start", "length"), _substring),
    exp.Trim: (("this",), _trim),
    exp.Left: _binary("left"),
    exp.Right: _binary("right"),
    exp.Replace: _function("replace", "this", "expression", "replacement"),
    exp.DPipe: _binary("concat"),
    exp.Concat: (("expressions",), _concat),
    exp.SplitPart: _function("split_part", "this", "delimiter", "part_index"),
    exp.Contains: _binary("contains"),
    exp.StartsWith: _binary("starts_with"),
    exp.EndsWith: _binary("ends_with"),
    exp.StrPosition: _binary("position", "substr"),
    exp.Extract: (("expression",), read_extract),
    exp.Year: datetime_field("year"),
    exp.Quarter: datetime_field("quarter"),
    exp.Month: datetime_field("month"),
    exp.Week: datetime_field("week"),
    exp.WeekOfYear: datetime_field("week"),
    exp.Day: datetime_field("day"),
    exp.DayOfMonth: datetime_field("day"),
    exp.DayOfWeek: datetime_field("dow"),
    exp.DayOfWeekIso: datetime_field("isodow"),
    exp.DayOfYear: datetime_field("doy"),
    exp.Hour: datetime_field("hour"),
    exp.Minute: datetime_field("minute"),
    exp.Second: datetime_field("second"),
    exp.TimeToUnix: datetime_field("epoch"),
    exp.TimestampTrunc: (("this",), read_trunc),
    exp.DateTrunc: (("this",), read_trunc),
    exp.DateDiff: (("this", "expression"), read_days),
}
"""Node → the arguments that are read, and the function that the node becomes."""

BuildNamed = Callable[[list[Node], Read, Node, "RowReader"], Expr]


def _named_function(name: str) -> BuildNamed:
    """Read a function of all arguments, in their order."""
    return lambda operands, read, _, __: call(name, *map(read, operands))


FUNCTION_NAMES: Mapping[str, BuildNamed] = {
    "clamp": _named_function("clip"),
    "clip": _named_function("clip"),
    "date_part": lambda operands, read, node, scalars: datetime_part(
        scalars.text(operands[0]), read(operands[1]), node, scalars
    ),
    "isfinite": _named_function("is_finite"),
    "prefix": _named_function("starts_with"),
    "suffix": _named_function("ends_with"),
    "mod": _named_function("mod"),
    "floor_div": _named_function("//"),
    "floor_mod": _named_function("%"),
}
"""Functions that sqlglot has no class for."""

TYPES: Mapping[str, str] = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "TEXT": "string",
    "VARCHAR": "string",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPNTZ": "timestamp",
    "TIMESTAMPTZ": "timestamp with time zone",
    "UUID": "uuid",
}
"""Types that a value may be cast to, as sqlglot names them."""
