"""Write expressions as SQL text, each function in the first SQL form of its row, and constants
exactly.

*Same*      The package `sql` reads each text back as the same expression; a test covers the whole
            table of functions. A constant without an exact text (a decimal, an infinity, 1/3) is
            refused, never written as something near it.
*Brackets*  stand around an operator inside an operator, but for a chain such as a + b + c, which is
            read from the left anyway.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from ..sql.sql_functions import TYPES
from ..tables.expr import constants
from ..tables.expr.expressions import ColumnRef, Expr, FunctionCall, Literal
from ..tables.expr.functions import FUNCTIONS
from ..tables.expr.scalar_function import Function, is_operator
from ..tables.expr.types import Type
from . import client_refusals as refusals

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHAINS = ({"+", "-"}, {"*"})
# of several SQL names for a type, the first
_TYPE_NAMES = {type_name: sql for sql, type_name in reversed(list(TYPES.items()))}


def expression_sql(expression: Expr) -> str:
    """Write an expression as SQL."""
    if isinstance(expression, ColumnRef):
        return quote_name(expression.name)
    if isinstance(expression, Literal):
        return constant_sql(expression.value)
    assert isinstance(expression, FunctionCall)
    function, arguments = expression.function, expression.arguments
    if function.name == "date_add":
        return _date_add(arguments)
    plain = [expression_sql(argument) for argument in arguments]
    if function.name == "cast":
        plain[1] = _type_sql(arguments[1])
    bracketed = [
        _bracketed(argument, text, function, first=not place)
        for place, (argument, text) in enumerate(zip(arguments, plain, strict=True))
    ]
    return function.write(function.sql_forms[0], plain, bracketed)


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


def _bracketed(argument: Expr, text: str, outer: Function, *, first: bool) -> str:
    """Write an argument of an operator, in brackets where it needs them."""
    if not isinstance(argument, FunctionCall):
        return f"({text})" if text.startswith("-") else text
    inner = argument.function
    is_chain = first and any({inner.name, outer.name} <= chain for chain in _CHAINS)
    return f"({text})" if is_operator(inner.sql_forms[0]) and not is_chain else text


def _type_sql(argument: Expr) -> str:
    target = Type.of(str(_value(argument)))
    if target.kind == "decimal":
        return f"DECIMAL({target.precision}, {target.scale})"
    if str(target.bare) not in _TYPE_NAMES:
        raise refusals.TYPE_WITHOUT_NAME(type=target.words, types=", ".join(_TYPE_NAMES))
    return _TYPE_NAMES[str(target.bare)]


def _date_add(arguments: Sequence[Expr]) -> str:
    moment, amount, unit = arguments[0], _value(arguments[1]), str(_value(arguments[2])).upper()
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise refusals.INTERVAL_NOT_WHOLE(amount=amount)
    text = _bracketed(moment, expression_sql(moment), FUNCTIONS["date_add"], first=True)
    return f"{text} {'-' if amount < 0 else '+'} INTERVAL {abs(amount)} {unit}"


def _value(argument: Expr) -> constants.Constant:
    if not isinstance(argument, Literal):
        raise refusals.NOT_CONSTANT(text=argument.text)
    return argument.value
