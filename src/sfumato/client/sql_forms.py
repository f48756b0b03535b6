"""Write expressions as SQL text: one form for each function, and constants exactly.

*Same*      The package `sql` reads each text back as the same expression; a test covers the whole
            table of functions. A constant without an exact text (a decimal, an infinity, 1/3) is
            refused, never written as something near it.
*Brackets*  stand around an operator inside an operator, but for a chain such as a + b + c, which is
            read from the left anyway.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from ..sql.sql_functions import TYPES
from ..tables.expr import constants
from ..tables.expr.expressions import ColumnRef, Expr, FunctionCall, Literal
from ..tables.expr.types import Type
from . import client_refusals as refusals

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHAINS = ({"+", "-"}, {"*"})
# of several SQL names for a type, the first
_TYPE_NAMES = {type_name: sql for sql, type_name in reversed(list(TYPES.items()))}

FORMS: Mapping[str, str] = {
    "+": "{0} + {1}",
    "-": "{0} - {1}",
    "*": "{0} * {1}",
    "/": "{0} / {1}",
    "//": "FLOOR_DIV({0}, {1})",
    "%": "FLOOR_MOD({0}, {1})",
    "div": "{0} // {1}",
    "mod": "{0} % {1}",
    "negate": "-({0})",
    "is_finite": "ISFINITE({0})",
    "not": "NOT {0}",
    "between": "{0} BETWEEN {1} AND {2}",
    "is_null": "{0} IS NULL",
    "not_null": "{0} IS NOT NULL",
    "identical": "{0} IS NOT DISTINCT FROM {1}",
    "like": "{0} LIKE {1}",
    "ilike": "{0} ILIKE {1}",
    "position": "STRPOS({0}, {1})",
    "substr": "SUBSTRING({0}, {1}, {2})",
    "day_of_week": "EXTRACT(isodow FROM {0})",
    "day_of_year": "EXTRACT(doy FROM {0})",
    "epoch": "EXTRACT(epoch FROM {0})",
    **{
        part: f"EXTRACT({part} FROM {{0}})"
        for part in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    },
    **{sign: f"{{0}} {sign} {{1}}" for sign in ("=", "<>", "<", "<=", ">", ">=")},
}
"""Forms of the functions that are not written NAME(arguments). `_JOINED` has those with any number
of arguments, `SPECIAL` those with a constant that is no expression.
"""

_JOINED = {"and": " AND ", "or": " OR ", "concat": " || "}


def expression_sql(expression: Expr) -> str:
    """Write an expression as SQL."""
    if isinstance(expression, ColumnRef):
        return quote_name(expression.name)
    if isinstance(expression, Literal):
        return constant_sql(expression.value)
    assert isinstance(expression, FunctionCall)
    function, arguments = expression.function.name, expression.arguments
    if function in SPECIAL:
        return SPECIAL[function](arguments)
    if function in _JOINED:
        return _JOINED[function].join(
            _operand(argument, function, first=not i) for i, argument in enumerate(arguments)
        )
    form = FORMS.get(function, "")
    if not form:
        return f"{function.upper()}({', '.join(map(expression_sql, arguments))})"
    return form.format(
        *(
            _operand(argument, function, first=not i)
            if _is_open(form)
            else expression_sql(argument)
            for i, argument in enumerate(arguments)
        )
    )


def quote_name(name: str) -> str:
    """Write the name of a column or a table, in quotation marks unless SQL reads it as a name."""
    return (
        name
        if _PLAIN.fullmatch(name) and _is_plain_word(name)
        else '"' + name.replace('"', '""') + '"'
    )


def constant_sql(value: constants.Constant) -> str:
    """Write a constant exactly; refuse one that SQL has no text for."""
    if isinstance(value, Decimal):
        raise refusals.DECIMAL_CONSTANT(value=constants.text(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refusals.INFINITE_CONSTANT(value=value)
        return repr(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return f"CAST('{value.isoformat(' ')}' AS TIMESTAMPTZ)"
    return constants.text(value)


def decimal_sql(value: Fraction) -> str:
    """Write a public number (an end, an edge, a probability) in decimals, exactly; refuse one with
    infinitely many decimals.
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 300:
        raise refusals.NUMBER_NOT_DECIMAL(number=value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    point = len(digits) - places
    sign, dot = "-" if value < 0 else "", "." if places else ""
    return f"{sign}{digits[:point]}{dot}{digits[point:]}"


def _is_plain_word(name: str) -> bool:
    """Whether SQL reads this word as a name and not as a keyword."""
    from sqlglot.dialects.duckdb import DuckDB
    from sqlglot.tokenizer_core import TokenType

    word = DuckDB().tokenize(f"{name} BY")[0]  # ORDER alone is a name, ORDER BY is not
    return word.token_type == TokenType.VAR and word.text == name


def _is_open(form: str) -> bool:
    return form.startswith("{") or not form.endswith(")")


def _operand(argument: Expr, outer: str, *, first: bool) -> str:
    """Write an argument of an operator, in brackets where it needs them."""
    text = expression_sql(argument)
    if not isinstance(argument, FunctionCall):
        return f"({text})" if text.startswith("-") else text
    inner = argument.function.name
    chained = first and any({inner, outer} <= chain for chain in _CHAINS)
    bare = (
        inner not in _JOINED and inner not in _OPERATORS and not _is_open(FORMS.get(inner, "F()"))
    )
    return text if bare or chained else f"({text})"


def _case(arguments: Sequence[Expr]) -> str:
    branches = "".join(
        f"WHEN {expression_sql(arguments[i])} THEN {expression_sql(arguments[i + 1])} "
        for i in range(0, len(arguments) - 1, 2)
    )
    return f"CASE {branches}ELSE {expression_sql(arguments[-1])} END"


def _in_list(arguments: Sequence[Expr]) -> str:
    return (
        f"{_operand(arguments[0], 'is_in', first=True)} IN "
        f"({', '.join(map(expression_sql, arguments[1:]))})"
    )


def _cast(arguments: Sequence[Expr]) -> str:
    target = Type.of(str(_value(arguments[1])))
    to = (
        f"DECIMAL({target.precision}, {target.scale})"
        if target.kind == "decimal"
        else _TYPE_NAMES.get(str(target.bare), "")
    )
    if not to:
        raise refusals.TYPE_WITHOUT_NAME(type=target.words, types=", ".join(_TYPE_NAMES))
    return f"TRY_CAST({expression_sql(arguments[0])} AS {to})"


def _trunc(arguments: Sequence[Expr]) -> str:
    return f"DATE_TRUNC('{_value(arguments[0])}', {expression_sql(arguments[1])})"


def _date_add(arguments: Sequence[Expr]) -> str:
    amount = _value(arguments[1])
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise refusals.INTERVAL_NOT_WHOLE(amount=amount)
    sign = "-" if amount < 0 else "+"
    return (
        f"{_operand(arguments[0], 'date_add', first=True)} {sign} INTERVAL {abs(amount)} "
        f"{str(_value(arguments[2])).upper()}"
    )


def _days(arguments: Sequence[Expr]) -> str:
    return f"DATE_DIFF('day', {expression_sql(arguments[1])}, {expression_sql(arguments[0])})"


def _value(argument: Expr) -> constants.Constant:
    if not isinstance(argument, Literal):
        raise refusals.NOT_CONSTANT(text=argument.text)
    return argument.value


SPECIAL: Mapping[str, Callable[[Sequence[Expr]], str]] = {
    "case": _case,
    "is_in": _in_list,
    "cast": _cast,
    "date_trunc": _trunc,
    "date_add": _date_add,
    "days_between": _days,
}
_OPERATORS = {"case", "is_in", "date_add"}  # special forms that need brackets like an operator
