"""The list of what may be computed from the columns of one row: sqlglot's nodes, and the functions
of expressions that come of them.

*Total*     The functions are those of `tables.expr.functions`: none of them can fail, whatever a row
            holds. CAST is TRY_CAST, division by zero is null.
*SQL's*     `//` and `%` round towards zero here, as in SQL; Python's operators of the same look
            round down, and are FLOOR_DIV and FLOOR_MOD.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from ..tables.expr.expressions import Expr, Literal, call, literal
from .datetimes import Build, Read, add, days, extract, field, part, trunc
from .sql_constants import constant, moment
from .sql_text import Node

if TYPE_CHECKING:
    from .row_expressions import Scalars

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
"""Arguments that sqlglot's dialect sets by itself, or that are read apart."""


def _plain(name: str, *places: str) -> tuple[tuple[str, ...], Build]:
    """A function of the same arguments, in this order."""
    return places, lambda node, read, _: call(
        name, *(read(node.args[place]) for place in places if node.args.get(place) is not None)
    )


def _two(name: str, second: str = "expression") -> tuple[tuple[str, ...], Build]:
    """A function of two arguments, as sqlglot has operators."""
    return _plain(name, "this", second)


def _listed(name: str) -> tuple[tuple[str, ...], Build]:
    """this and expressions, as sqlglot has functions of any number of arguments."""

    def build(node: Node, read: Read, _: Scalars) -> Expr:
        given = [*([node.this] if node.args.get("this") is not None else []), *node.expressions]
        return call(name, *map(read, given)) if len(given) > 1 else read(given[0])

    return ("this", "expressions"), build


def _not(node: exp.Not, read: Read, _: Scalars) -> Expr:
    inner = node.this
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return call("not_null", read(inner.this))
    return call("not", read(inner))


def _is(node: exp.Is, read: Read, scalars: Scalars) -> Expr:
    if isinstance(node.expression, exp.Null):
        return call("is_null", read(node.this))
    if isinstance(node.expression, exp.Boolean):
        return call("identical", read(node.this), literal(bool(node.expression.this)))
    raise scalars.unsupported(node)


def _in(node: exp.In, read: Read, scalars: Scalars) -> Expr:
    listed = [
        read(item) if isinstance(item, exp.Cast) else constant(item, scalars.parameters)
        for item in node.expressions
    ]  # DATE '2026-01-31' is a cast
    if not listed or not all(isinstance(item, Literal) for item in listed):
        reason = "what a value is compared with is a list of constants"
        raise scalars.source.refuse(
            "sql.unsupported", node, "", reason, "x IN (1, 2, 3), or (x = a) OR (x = b)"
        )
    return call("is_in", read(node.this), *listed)


def _case(node: exp.Case, read: Read, _: Scalars) -> Expr:
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


def _if(node: exp.If, read: Read, _: Scalars) -> Expr:
    other = node.args.get("false")
    return call(
        "case",
        read(node.this),
        read(node.args["true"]),
        literal(None) if other is None else read(other),
    )


def _cast(node: exp.Cast, read: Read, scalars: Scalars) -> Expr:
    wanted = scalars.known_type(node.args["to"])
    if (
        wanted.kind in ("date", "timestamp", "uuid")
        and isinstance(node.this, exp.Literal)
        and node.this.is_string
    ):
        return moment(str(node.this.this), wanted, scalars.source, node)
    return read(node.this).cast(wanted)


def _log(node: exp.Log, read: Read, scalars: Scalars) -> Expr:
    """LOG(x) is to base 10, LOG2(x) and LOG10(x) come as LOG(base, x)."""
    if node.args.get("expression") is None:
        return call("log10", read(node.this))
    name = (
        {"10": "log10", "2": "log2"}.get(str(node.this.this))
        if isinstance(node.this, exp.Literal)
        else None
    )
    if name is None:
        raise scalars.unsupported(node, "LN(x) / LN(base)")
    return call(name, read(node.expression))


def _round(node: exp.Round, read: Read, _: Scalars) -> Expr:
    digits = node.args.get("decimals")
    return call("round", read(node.this), literal(0) if digits is None else read(digits))


def _substring(node: exp.Substring, read: Read, _: Scalars) -> Expr:
    length = node.args.get("length")
    return call(
        "substr",
        read(node.this),
        read(node.args["start"]),
        literal(10**6) if length is None else read(length),
    )


def _trim(node: exp.Trim, read: Read, _: Scalars) -> Expr:
    return call(
        {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim"),
        read(node.this),
    )


def _concat(node: exp.Concat, read: Read, _: Scalars) -> Expr:
    """CONCAT passes over nulls, where || does not."""
    parts = [call("coalesce", read(part), literal("")) for part in node.expressions]
    return call("concat", *parts) if len(parts) > 1 else parts[0]


TABLE: Mapping[type[Node], tuple[tuple[str, ...], Build]] = {
    exp.Paren: (("this",), lambda node, read, _: read(node.this)),
    exp.And: _two("and"),
    exp.Or: _two("or"),
    exp.Not: (("this",), _not),
    exp.EQ: _two("="),
    exp.NEQ: _two("<>"),
    exp.LT: _two("<"),
    exp.LTE: _two("<="),
    exp.GT: _two(">"),
    exp.GTE: _two(">="),
    exp.Between: _plain("between", "this", "low", "high"),
    exp.In: (("this", "expressions"), _in),
    exp.Is: (("this", "expression"), _is),
    exp.NullSafeEQ: _two("identical"),
    exp.NullSafeNEQ: (
        ("this", "expression"),
        lambda node, read, _: call(
            "not", call("identical", read(node.this), read(node.expression))
        ),
    ),
    exp.Like: _two("like"),
    exp.ILike: _two("ilike"),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Coalesce: _listed("coalesce"),
    exp.Nullif: _two("nullif"),
    exp.Greatest: _listed("greatest"),
    exp.Least: _listed("least"),
    exp.Cast: (("this",), _cast),
    exp.TryCast: (("this",), _cast),
    exp.Add: add(1, "+"),
    exp.Sub: add(-1, "-"),
    exp.DateAdd: add(1, ""),
    exp.DateSub: add(-1, ""),
    exp.Mul: _two("*"),
    exp.Div: _two("/"),
    exp.IntDiv: _two("div"),
    exp.Mod: _two("mod"),
    exp.Pow: _two("power"),
    exp.Neg: _plain("negate", "this"),
    exp.Abs: _plain("abs", "this"),
    exp.Sign: _plain("sign", "this"),
    exp.Ceil: _plain("ceil", "this"),
    exp.Floor: _plain("floor", "this"),
    exp.Trunc: _plain("trunc", "this"),
    exp.Round: (("this", "decimals"), _round),
    exp.Sqrt: _plain("sqrt", "this"),
    exp.Exp: _plain("exp", "this"),
    exp.Ln: _plain("ln", "this"),
    exp.Log: (("this", "expression"), _log),
    exp.Sin: _plain("sin", "this"),
    exp.Cos: _plain("cos", "this"),
    exp.Tan: _plain("tan", "this"),
    exp.Asin: _plain("asin", "this"),
    exp.Acos: _plain("acos", "this"),
    exp.Atan: _plain("atan", "this"),
    exp.Atan2: _two("atan2"),
    exp.Degrees: _plain("degrees", "this"),
    exp.Radians: _plain("radians", "this"),
    exp.Upper: _plain("upper", "this"),
    exp.Lower: _plain("lower", "this"),
    exp.Length: _plain("length", "this"),
    exp.Substring: (("this", "start", "length"), _substring),
    exp.Trim: (("this",), _trim),
    exp.Left: _two("left"),
    exp.Right: _two("right"),
    exp.Replace: _plain("replace", "this", "expression", "replacement"),
    exp.DPipe: _two("concat"),
    exp.Concat: (("expressions",), _concat),
    exp.SplitPart: _plain("split_part", "this", "delimiter", "part_index"),
    exp.Contains: _two("contains"),
    exp.StartsWith: _two("starts_with"),
    exp.EndsWith: _two("ends_with"),
    exp.StrPosition: _two("position", "substr"),
    exp.Extract: (("expression",), extract),
    exp.Year: field("year"),
    exp.Quarter: field("quarter"),
    exp.Month: field("month"),
    exp.Week: field("week"),
    exp.WeekOfYear: field("week"),
    exp.Day: field("day"),
    exp.DayOfMonth: field("day"),
    exp.DayOfWeek: field("dow"),
    exp.DayOfWeekIso: field("isodow"),
    exp.DayOfYear: field("doy"),
    exp.Hour: field("hour"),
    exp.Minute: field("minute"),
    exp.Second: field("second"),
    exp.TimeToUnix: field("epoch"),
    exp.TimestampTrunc: (("this",), trunc),
    exp.DateTrunc: (("this",), trunc),
    exp.DateDiff: (("this", "expression"), days),
}
"""Node → the arguments that are read, and the function that comes of them."""

Named = Callable[[list[Node], Read, Node, "Scalars"], Expr]


def _called(name: str) -> Named:
    """A function of the same arguments, in their order."""
    return lambda given, read, _, __: call(name, *map(read, given))


NAMED: Mapping[str, Named] = {
    "clamp": _called("clip"),
    "clip": _called("clip"),
    "date_part": lambda given, read, node, scalars: part(
        scalars.text(given[0]), read(given[1]), node, scalars
    ),
    "isfinite": _called("is_finite"),
    "prefix": _called("starts_with"),
    "suffix": _called("ends_with"),
    "mod": _called("mod"),
    "floor_div": _called("//"),
    "floor_mod": _called("%"),
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
