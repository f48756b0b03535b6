"""Expressions as SQL text: one form for each function, and constants as a text holds them exactly.

*Same*      What is written here is read back by `sql` as the very same expression; a test goes
            through the whole table of functions. What has no text of its own there (a decimal, an
            infinity, a third) is refused, never written as something near it.
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

from ..errors import Refused
from ..sql.sql_functions import TYPES
from ..tables.expr import constants
from ..tables.expr.expressions import Call, Column, Expr, Literal
from ..tables.expr.types import Type

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHAINS = ({"+", "-"}, {"*"})
_TYPE_NAMES = {
    own: sql for sql, own in reversed(list(TYPES.items()))
}  # of several spellings, the first

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
"""Functions that are not written NAME(arguments). Those of any number of arguments, and those with
a constant that is no expression, are below.
"""

_JOINED = {"and": " AND ", "or": " OR ", "concat": " || "}


def written(expression: Expr) -> str:
    """The text of an expression."""
    if isinstance(expression, Column):
        return name(expression.name)
    if isinstance(expression, Literal):
        return constant(expression.value)
    assert isinstance(expression, Call)
    function, arguments = expression.function.name, expression.arguments
    if function in SPECIAL:
        return SPECIAL[function](arguments)
    if function in _JOINED:
        return _JOINED[function].join(
            _inside(argument, function, first=not i) for i, argument in enumerate(arguments)
        )
    form = FORMS.get(function, "")
    if not form:
        return f"{function.upper()}({', '.join(map(written, arguments))})"
    return form.format(
        *(
            _inside(argument, function, first=not i) if _open(form) else written(argument)
            for i, argument in enumerate(arguments)
        )
    )


def name(given: str) -> str:
    """The name of a column or a table; in quotation marks unless it is an ordinary word to SQL."""
    return (
        given if _PLAIN.fullmatch(given) and _word(given) else '"' + given.replace('"', '""') + '"'
    )


def constant(value: constants.Constant) -> str:
    """A constant, exactly; refused where no text means it."""
    if isinstance(value, Decimal):
        raise unsaid(
            constants.text(value),
            "SQL has no decimal constants: a number in a text is an integer or a double",
            "a float, or an integer",
        )
    if isinstance(value, float):
        if not math.isfinite(value):
            raise unsaid(
                repr(value),
                "SQL has no text for an infinite number",
                "a finite number, or sf.col('x').is_finite()",
            )
        return repr(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return f"CAST('{value.isoformat(' ')}' AS TIMESTAMPTZ)"
    return constants.text(value)


def number(value: Fraction) -> str:
    """A public number (an end, an edge, a probability) in decimals, exactly; refused where decimals
    would go on for ever.
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 300:
        raise unsaid(
            f"{value!s:.60}",
            "this number has no end in decimals, and SQL is written in decimals",
            "a number such as 0.25",
        )
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[: len(digits) - places]}{'.' if places else ''}{digits[len(digits) - places :]}"


def unsaid(place: str, reason: str, rewrite: str) -> Refused:
    """What SQL cannot say."""
    return Refused("client.spelling", place, reason, rewrite)


def _word(given: str) -> bool:
    """Whether a name stands for itself in SQL, and is no word of the language."""
    from sqlglot.dialects.duckdb import DuckDB
    from sqlglot.tokenizer_core import TokenType

    word = DuckDB().tokenize(f"{given} BY")[0]  # ORDER alone is a name, ORDER BY is not
    return word.token_type == TokenType.VAR and word.text == given


def _open(form: str) -> bool:
    return form.startswith("{") or not form.endswith(")")


def _inside(argument: Expr, outer: str, *, first: bool) -> str:
    """An argument beside an operator."""
    text = written(argument)
    if not isinstance(argument, Call):
        return f"({text})" if text.startswith("-") else text
    inner = argument.function.name
    chained = first and any({inner, outer} <= chain for chain in _CHAINS)
    bare = inner not in _JOINED and inner not in _OPERATORS and not _open(FORMS.get(inner, "F()"))
    return text if bare or chained else f"({text})"


def _case(arguments: Sequence[Expr]) -> str:
    branches = "".join(
        f"WHEN {written(arguments[i])} THEN {written(arguments[i + 1])} "
        for i in range(0, len(arguments) - 1, 2)
    )
    return f"CASE {branches}ELSE {written(arguments[-1])} END"


def _listed(arguments: Sequence[Expr]) -> str:
    return (
        f"{_inside(arguments[0], 'is_in', first=True)} IN "
        f"({', '.join(map(written, arguments[1:]))})"
    )


def _cast(arguments: Sequence[Expr]) -> str:
    known = Type.of(str(_value(arguments[1])))
    to = (
        f"DECIMAL({known.precision}, {known.scale})"
        if known.kind == "decimal"
        else _TYPE_NAMES.get(str(known.bare), "")
    )
    if not to:
        raise unsaid(
            f"cast({known.words})", "SQL has no name for this type here", ", ".join(_TYPE_NAMES)
        )
    return f"TRY_CAST({written(arguments[0])} AS {to})"


def _trunc(arguments: Sequence[Expr]) -> str:
    return f"DATE_TRUNC('{_value(arguments[0])}', {written(arguments[1])})"


def _date_add(arguments: Sequence[Expr]) -> str:
    amount = _value(arguments[1])
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise unsaid(
            f"date_add({amount!r:.40})",
            "an interval is a whole number of units",
            "date_add(3, 'day')",
        )
    sign = "-" if amount < 0 else "+"
    return (
        f"{_inside(arguments[0], 'date_add', first=True)} {sign} INTERVAL {abs(amount)} "
        f"{str(_value(arguments[2])).upper()}"
    )


def _days(arguments: Sequence[Expr]) -> str:
    return f"DATE_DIFF('day', {written(arguments[1])}, {written(arguments[0])})"


def _value(argument: Expr) -> constants.Constant:
    if not isinstance(argument, Literal):
        raise unsaid(argument.text[:60], "this is a constant in SQL", "a constant")
    return argument.value


SPECIAL: Mapping[str, Callable[[Sequence[Expr]], str]] = {
    "case": _case,
    "is_in": _listed,
    "cast": _cast,
    "date_trunc": _trunc,
    "date_add": _date_add,
    "days_between": _days,
}
_OPERATORS = {"case", "is_in", "date_add"}  # of these, those with an operator's look
