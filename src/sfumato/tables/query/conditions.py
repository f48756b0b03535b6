"""What a condition says about the values of the rows that meet it: `product IN ('a', 'b')` leaves
two values of product, `3 <= n AND n < 7` four of a whole number.

*Outer*     Where rows may meet a condition with a value, the value is in the set: OR joins sets,
            and a comparison in doubles says nothing of numbers that doubles round.
*Null*      A condition that is true or false, not null, has compared values: they are not null.
*Inverse*   Where a function knows its inverse (the year of a date), its argument is narrowed too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

import numpy as np

from ..expr.constants import Constant
from ..expr.expressions import Expr, FunctionCall, Literal
from ..expr.nodes import Schema
from ..expr.promotion import common_type
from ..expr.types import Type
from ..expr.value_sets import (
    MICROSECOND,
    NOT_NULL,
    ValueSet,
    as_datetime,
    converted,
    fraction,
    listing,
    number,
)

Learned = dict[str, tuple[Expr, ValueSet]]
"""By the text of an expression: the expression, and a set that holds its values."""

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
CONTRARY = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_DOUBLE = 2**53  # whole numbers below are doubles, and no operand whole number rounds to them


def learn_from(condition: Expr, types: Schema) -> Learned:
    """Return what is true of the values of rows that meet a condition."""
    return _where(condition, types, is_true=True)


def join_facts(first: Learned, second: Learned) -> Learned:
    """Return what is true of the values of rows for which both are true."""
    facts = dict(first)
    for text, (expression, values) in second.items():
        facts[text] = (expression, facts[text][1] & values if text in facts else values)
    return facts


def with_arguments(facts: Learned, types: Schema) -> Learned:
    """Add what the values of calls say about their arguments, where a function has an inverse."""
    for expression, values in list(facts.values()):
        inner, inner_values = expression, values
        while isinstance(inner, FunctionCall) and inner.function.preimage is not None:
            arguments = [argument._resolve(types, {}) for argument in inner.arguments]
            answer = inner.function.preimage(inner_values, arguments)
            if answer is None:
                break
            inner, inner_values = inner.arguments[answer[0]], answer[1]
            facts = join_facts(facts, {inner.text: (inner, inner_values)})
    return facts


def _where(condition: Expr, types: Schema, *, is_true: bool) -> Learned:
    """Return what is true of the values of rows for which a condition is true, or is false."""
    facts: Learned = {condition.text: (condition, listing(is_true))}
    if not isinstance(condition, FunctionCall):
        return facts
    name, arguments = condition.function.name, condition.arguments
    if name == "not":
        return join_facts(facts, _where(arguments[0], types, is_true=not is_true))
    if name in ("and", "or"):
        parts = [_where(argument, types, is_true=is_true) for argument in arguments]
        together = (name == "and") == is_true
        return join_facts(facts, _join_all(parts) if together else _join_any(parts))
    if name in ("is_null", "not_null"):
        is_null = (name == "is_null") == is_true
        values = listing(null=True) if is_null else NOT_NULL
        return facts | {arguments[0].text: (arguments[0], values)}
    return join_facts(facts, _of_comparison(name, arguments, types, is_true=is_true))


def _join_all(parts: Sequence[Learned]) -> Learned:
    facts: Learned = {}
    for part in parts:
        facts = join_facts(facts, part)
    return facts


def _join_any(parts: Sequence[Learned]) -> Learned:
    """Return what all parts have something to say about: one of them is true."""
    first, *more = parts
    facts = dict(first)
    for part in more:
        facts = {
            text: (expression, values | part[text][1])
            for text, (expression, values) in facts.items()
            if text in part
        }
    return facts


def _of_comparison(
    name: str, arguments: Sequence[Expr], types: Schema, *, is_true: bool
) -> Learned:
    resolved = [argument._resolve(types, {}) for argument in arguments]
    facts: Learned = {}
    if name == "identical":
        facts = {}
    elif name in FLIPPED or name in ("between", "is_in"):
        facts = {
            argument.text: (argument, NOT_NULL)
            for argument in (arguments if name != "between" else arguments[:1])
            if not isinstance(argument, Literal)
        }
    sides = [(name, arguments[0], arguments[1:])]
    if name in FLIPPED:
        sides.append((FLIPPED[name], arguments[1], arguments[:1]))
    if name not in (*FLIPPED, "between", "is_in", "identical"):
        return facts
    kind = common_type(resolved, condition_place(arguments))
    for sign, expression, operands in sides:
        if isinstance(expression, Literal) or not all(
            isinstance(operand, Literal) for operand in operands
        ):
            continue
        constants = [operand.value for operand in operands if isinstance(operand, Literal)]
        column_type = expression._resolve(types, {}).type
        values = _values(sign, constants, column_type, kind, is_true=is_true)
        facts = join_facts(facts, {expression.text: (expression, values)})
    return facts


def condition_place(arguments: Sequence[Expr]) -> str:
    """Name two sides of a comparison, for a refusal."""
    return " and ".join(argument.text for argument in arguments[:2])


def _values(
    sign: str, constants: Sequence[Constant], column: Type, compared: Type, *, is_true: bool
) -> ValueSet:
    """Return the values with which a comparison with constants is true, or is false."""
    if sign == "identical":
        if constants[0] is None:
            return listing(null=True) if is_true else NOT_NULL
        equal = _of_sign("=", constants[0], column, compared)
        return equal if is_true else replace(_without(equal), null=True)
    if sign == "is_in":
        sets = [_of_sign("=", constant, column, compared) for constant in constants]
        if is_true:
            return _union(sets)
        values = NOT_NULL
        for each in sets:
            values = values & _without(each)
        return values
    if sign == "between":
        low, high = constants
        if is_true:
            return _of_sign(">=", low, column, compared) & _of_sign("<=", high, column, compared)
        return _of_sign("<", low, column, compared) | _of_sign(">", high, column, compared)
    return _of_sign(sign if is_true else CONTRARY[sign], constants[0], column, compared)


def _union(sets: Sequence[ValueSet]) -> ValueSet:
    """Join many sets, at once where all are listed."""
    if all(each.values is not None for each in sets):
        return listing(*(value for each in sets for value in each.values or ()))
    values = sets[0]
    for each in sets[1:]:
        values = values | each
    return values


def _without(equal: ValueSet) -> ValueSet:
    """Return all values but those of a listed set."""
    return replace(NOT_NULL, without=equal.values or frozenset())


def _of_sign(sign: str, constant: Constant, column: Type, compared: Type) -> ValueSet:
    """Return the values with which `column sign constant` is true."""
    if constant is None:
        return listing()  # nothing equals null
    if sign == "<>":
        return _without(_of_sign("=", constant, column, compared))
    read = _READERS.get(column.kind)
    return NOT_NULL if read is None else read(sign, constant, column, compared)


def _number(sign: str, constant: Constant, column: Type, compared: Type) -> ValueSet:
    value = fraction(constant)
    if value is None:
        return NOT_NULL
    if compared.kind == "float":
        value = Fraction(float(value))
        if column.kind == "decimal" or (column.kind == "integer" and abs(value) >= _DOUBLE):
            return NOT_NULL  # numbers that are not equal may be equal as doubles
    if column.kind == "float":
        return _double(sign, float(value), column)
    unit = Fraction(10) ** column.scale
    steps = value * unit
    if sign == "=":
        limits = column.limits
        is_held = limits is not None and limits[0] <= value <= limits[1]
        return listing(*([number(value, column)] if is_held and steps.denominator == 1 else []))
    if sign in ("<", "<="):
        most = math.ceil(steps) - 1 if sign == "<" else math.floor(steps)
        return ValueSet(high=Fraction(most) / unit, null=False)
    least = math.floor(steps) + 1 if sign == ">" else math.ceil(steps)
    return ValueSet(low=Fraction(least) / unit, null=False)


def _double(sign: str, value: float, column: Type) -> ValueSet:
    if sign == "=":
        with np.errstate(over="ignore"):  # beyond the largest single lies no value
            is_held = column.bits == 64 or float(np.float32(value)) == value
        return listing(*([value + 0.0] if is_held else []))
    if sign in ("<", "<="):
        most = math.nextafter(value, -math.inf) if sign == "<" else value
        return ValueSet(high=Fraction(most), null=False) if math.isfinite(most) else NOT_NULL
    least = math.nextafter(value, math.inf) if sign == ">" else value
    return ValueSet(low=Fraction(least), null=False) if math.isfinite(least) else NOT_NULL


def _moment(sign: str, constant: Constant, column: Type, compared: Type) -> ValueSet:
    """Read a moment as it is compared: a date beside a timestamp is its midnight."""
    value = converted(constant, compared)
    if not isinstance(value, date):
        return NOT_NULL
    moment = as_datetime(value)
    is_date = column.kind == "date"
    day = moment.date()
    is_midnight = as_datetime(day) == moment
    if sign == "=":
        if is_date:
            return listing(*([day] if is_midnight else []))
        return listing(moment)
    step = timedelta(days=1) if is_date else MICROSECOND
    end: date = day if is_date else moment
    try:
        if sign in ("<", "<="):
            is_below = sign == "<" and (is_midnight or not is_date)
            return ValueSet(high=end - step if is_below else end, null=False)
        is_above = sign == ">" or (is_date and not is_midnight)
        return ValueSet(low=end + step if is_above else end, null=False)
    except OverflowError:  # no moment lies beyond the first or the last
        return listing()


def _same(sign: str, constant: Constant, column: Type, compared: Type) -> ValueSet:
    """Read texts, truth values and uuids: only equal values are known."""
    value = converted(constant, compared)
    return listing(value) if sign == "=" else NOT_NULL


_READERS: Mapping[str, Callable[[str, Constant, Type, Type], ValueSet]] = {
    "integer": _number,
    "decimal": _number,
    "float": _number,
    "date": _moment,
    "timestamp": _moment,
    "bool": _same,
    "string": _same,
    "uuid": _same,
}
"""Kind of a column → what a comparison with a constant says about its values."""
