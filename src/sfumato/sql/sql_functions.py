"""Read functions on the columns of one row: sqlglot's nodes become functions of `tables.expr`.

*Derived*   The rows of `tables.expr.functions` hold the spellings of each function in SQL. sqlglot
            parses each spelling once, and the parsed spelling tells which node stands for the
            function and where its arguments are. `SYNTAX` reads what is no call: CASE, IN, CAST,
            intervals and parts of moments.
*Total*     None of the functions can fail, whatever a row holds. CAST is TRY_CAST, division by zero
            is null.
*SQL's*     `//` and `%` round towards zero here, as in SQL; Python's operators of the same look
            round down, and are FLOOR_DIV and FLOOR_MOD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from ..tables.expr.expressions import Expr, Literal, call, literal
from ..tables.expr.functions import FUNCTIONS
from ..tables.expr.scalar_function import Function
from . import sql_refusals as refusals
from .datetimes import (
    Build,
    Read,
    read_date_part,
    read_day_of_week,
    read_days,
    read_extract,
    read_trunc,
    shift,
)
from .patterns.date_formats import read_date_format, read_strftime, read_to_char
from .patterns.regular_expressions import read_pattern
from .sql_constants import read_constant, read_moment
from .sql_text import Node, SqlText, arguments

if TYPE_CHECKING:
    from .row_expressions import RowReader

NodeKey = type[Node] | str  # the class of a node, or the name of a function without a class


def node_key(node: Node) -> NodeKey:
    """Return what tells a function: the class of its node, or its name."""
    if isinstance(node, exp.Anonymous):
        return node.this.lower() if isinstance(node.this, str) else ""
    return type(node)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A function as sqlglot parses it: the places of its arguments in the node, in the order of the
    function, and the arguments of the node that belong to the spelling.
    """

    function: Function
    places: tuple[str, ...]
    fixed: Mapping[str, object]

    def fits(self, node: Node) -> bool:
        """Whether a node has the fixed arguments, and the others, too: LOG(10) is no LOG10()."""
        return not self.fixed or (
            all(node.args.get(name) == value for name, value in self.fixed.items())
            and all(node.args.get(place) is not None for place in self.places)
        )

    def read(self, node: Node, read: Read, scalars: RowReader) -> Expr:
        scalars.check_arguments(node, (*self.places, *self.fixed))
        operands: list[Expr] = []
        for place in self.places:
            part = node.args.get(place)
            parts = part if isinstance(part, list) else [] if part is None else [part]
            operands += map(read, parts)
        lacking = len(self.function.takes) - len(operands)
        if self.function.many and len(operands) == 1:
            return operands[0]
        if self.function.last is not None and lacking > 0:
            if lacking > 1:
                raise scalars.refuse_unsupported(node)
            operands.append(literal(self.function.last))
        return call(self.function.name, *operands)


@cache
def spellings() -> Mapping[NodeKey, tuple[Spelling, ...]]:
    """Parse the spellings of all functions. Those with more fixed arguments come first."""
    parsed: dict[NodeKey, list[Spelling]] = {}
    for function in FUNCTIONS.values():
        names = [f"a{place}" for place in range(len(function.takes))]
        for form in function.sql_forms:
            text = function.write(form, names, names)
            node = DuckDB().parser().parse(DuckDB().tokenize(text), text)[0]
            assert node is not None
            spelling = _spelling(function, node, names)
            if spelling is not None:
                parsed.setdefault(node_key(node), []).append(spelling)
    return {
        key: tuple(sorted(options, key=lambda spelling: -len(spelling.fixed)))
        for key, options in parsed.items()
    }


@cache
def function_names() -> list[str]:
    """Return the names of all supported functions, in small letters."""
    names = {
        form.partition("(")[0].lower()
        for function in FUNCTIONS.values()
        for form in function.sql_forms
        if "(" in form
    }
    return sorted(name for name in names if name.replace("_", "").isalnum())


def spelling_of(node: Node) -> Spelling | None:
    """Find the spelling that a node is, if it is one."""
    return next((way for way in spellings().get(node_key(node), ()) if way.fits(node)), None)


def _spelling(function: Function, node: Node, names: list[str]) -> Spelling | None:
    """Find the arguments of a function in its parsed text; None if only `SYNTAX` can read it."""
    places: dict[str, str] = {}
    fixed: dict[str, object] = {}
    for place in arguments(node):
        value = node.args[place]
        columns = [_column_name(part) for part in (value if isinstance(value, list) else [value])]
        if {*columns} <= {*names}:
            places |= dict.fromkeys(columns, place)
        elif not isinstance(node, exp.Anonymous):  # its name is the key
            fixed[place] = value
    if len(places) < len(names):
        assert node_key(node) in SYNTAX, f"{node.sql()} is not read as {function.name}"
        return None
    return Spelling(function, tuple(dict.fromkeys(places[name] for name in names)), fixed)


def _column_name(part: object) -> str:
    inner = part.this if isinstance(part, exp.Paren) else part
    return inner.name if isinstance(inner, exp.Column) else ""


def _not(node: exp.Not, read: Read, _: RowReader) -> Expr | None:
    inner = node.this
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return call("not_null", read(inner.this))
    return None


def _is(node: exp.Is, read: Read, _: RowReader) -> Expr | None:
    if isinstance(node.expression, exp.Boolean):
        return call("identical", read(node.this), literal(bool(node.expression.this)))
    return None


def _in(node: exp.In, read: Read, scalars: RowReader) -> Expr:
    listed = [
        read(item) if isinstance(item, exp.Cast) else read_constant(item, scalars.parameters)
        for item in node.expressions
    ]  # DATE '2026-01-31' is a cast
    if any(
        isinstance(item, exp.Column) and item.this.args.get("quoted") for item in node.expressions
    ):
        before, _, names = scalars.source.words_of(node).rpartition("(")
        texts = names.replace('"', "'")
        raise scalars.source.refuse(
            refusals.TEXT_IN_DOUBLE_QUOTES,
            node,
            corrected=scalars.source.replace_text(node, f"{before}({texts}"),
        )
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


def _check_base(node: exp.Log, _: Read, scalars: RowReader) -> None:
    """Refuse logarithms to other bases; sqlglot parses LOG2(x) and LOG10(x) as LOG(base, x)."""
    if "expression" in arguments(node) and node.this not in map(exp.Literal.number, (2, 10)):
        base, value = (scalars.source.words_of(part) for part in (node.this, node.expression))
        rewrite = scalars.source.replace_text(node, f"(LN({value}) / LN({base}))")
        raise scalars.refuse_unsupported(node).replace(rewrite=rewrite)


def _concat(node: exp.Concat, read: Read, _: RowReader) -> Expr:
    """Read CONCAT, which skips nulls; || does not."""
    parts = [call("coalesce", read(part), literal("")) for part in node.expressions]
    return call("concat", *parts) if len(parts) > 1 else parts[0]


SYNTAX: Mapping[NodeKey, tuple[tuple[str, ...], Build]] = {
    exp.Paren: (("this",), lambda node, read, _: read(node.this)),
    exp.Not: (("this",), _not),
    exp.In: (("this", "expressions"), _in),
    exp.Is: (("this", "expression"), _is),
    exp.NullSafeNEQ: (
        ("this", "expression"),
        lambda node, read, _: call(
            "not", call("identical", read(node.this), read(node.expression))
        ),
    ),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Cast: (("this", "to"), _cast),
    exp.TryCast: (("this", "to", "safe"), _cast),
    exp.Add: (("this", "expression"), shift(1)),
    exp.Sub: (("this", "expression"), shift(-1)),
    exp.DateAdd: (("this", "expression"), shift(1)),
    exp.DateSub: (("this", "expression"), shift(-1)),
    exp.Log: (("this", "expression"), _check_base),
    exp.Concat: (("expressions", "safe", "coalesce"), _concat),
    exp.Extract: (("this", "expression"), read_extract),
    exp.DayOfWeek: (("this",), read_day_of_week),
    exp.TimestampTrunc: (("this", "unit"), read_trunc),
    exp.DateTrunc: (("this",), read_trunc),
    exp.DateDiff: (("this", "expression", "unit"), read_days),
    "date_part": (("this", "expressions"), read_date_part),
    exp.TimeToStr: (("this", "format"), read_strftime),
    exp.ToChar: (("this", "format"), read_to_char),
    "date_format": (("this", "expressions"), read_date_format),
    "format_datetime": (("this", "expressions"), read_date_format),
    exp.RegexpLike: (("this", "expression", "flag"), read_pattern),
    exp.RegexpFullMatch: (("this", "expression", "flag"), read_pattern),
    exp.RegexpILike: (("this", "expression", "flag"), read_pattern),
    exp.SimilarTo: (("this", "expression"), read_pattern),
}
"""Node → the arguments that it may have, and its reader; a reader returns None for a node that is
simply a spelling of a function.
"""

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
