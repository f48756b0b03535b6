"""Sums, products, quotients and remainders.

*Exact*   integers and decimals stay exact while every value that their types allow fits (64 bits,
          38 digits); otherwise the result is a float64.
*Null*    division and remainder by zero, and zero to a negative power.
*Sign*    `//` and `%` are Python's (rounded down, the sign of the divisor), `div` and `mod` are
          SQL's (rounded towards zero, the sign of the dividend).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Unpack

from . import engine_values as ev
from . import value_ranges
from .constants import within
from .engine_values import Value
from .promotion import arithmetic_type, convert, exact_type
from .scalar_function import NUMBER, Argument, Build, Function, Gives, Traits, always
from .types import FLOAT, INT64, Type
from .value_ranges import hull
from .value_sets import MOST_VALUES, ValueRule, ValueSet, arithmetic, first_of, image

_HUGE = Type("decimal", precision=38)
_DOUBLES = (Fraction(-(2**53)), Fraction(2**53))
_HALF = (Fraction(-(2**62)), Fraction(2**62))


def _result_type(rule: value_ranges.Rule, scale: Callable[..., int]) -> Gives:
    return lambda arguments: arithmetic_type(
        rule([argument.span for argument in arguments], []),
        arguments,
        scale(argument.type.scale for argument in arguments),
    )


def _integer_or_float(rule: value_ranges.Rule) -> Gives:
    """Return a type rule: an integer for integer arguments, else a float."""

    def gives(arguments: Sequence[Argument]) -> Type:
        integral = all(argument.type.kind == "integer" for argument in arguments)
        return (
            exact_type(rule([argument.span for argument in arguments], []), 0, integral=True)
            if integral
            else FLOAT
        )

    return gives


def _convert_all(to: Type, values: Sequence[Value], arguments: Sequence[Argument]) -> list[Value]:
    return [convert(value, argument, to) for value, argument in zip(values, arguments, strict=True)]


def _in_common_type(operation: Callable[..., Value]) -> Build:
    """Cast all arguments to one type that holds them and the result (−32768 fits int16, 32768 does
    not), apply the operation, and cast the result: DuckDB widens a sum of decimals by a digit.
    """

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        if result == FLOAT:
            return operation(*_convert_all(FLOAT, values, arguments))
        wide = exact_type(
            hull([result.limits, *(argument.type.limits for argument in arguments)]),
            result.scale,
            integral=result.kind == "integer",
        )
        return ev.try_cast(
            operation(*_convert_all(result if wide == FLOAT else wide, values, arguments)), result
        )

    return build


def _product(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    if result.kind != "decimal":
        return _in_common_type(operator.mul)(values, arguments, result)
    # DuckDB multiplies decimals of up to 18 digits in 64 bits and fails where the product has more,
    # so one of them is made wide.
    first, second = (
        exact_type(argument.type.limits, argument.type.scale, integral=False)
        for argument in arguments
    )
    return ev.try_cast(
        ev.product(
            convert(values[0], arguments[0], replace(first, precision=38)),
            convert(values[1], arguments[1], second),
        ),
        result,
    )


def _not_zero(value: Value, argument: Argument, kind: Type) -> Value:
    return (
        value
        if argument.is_constant and argument.value
        else value.nullif(ev.constant(0 if kind.kind == "integer" else 0.0, kind))
    )


def _quotient(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    above, below = _convert_all(FLOAT, values, arguments)
    return above / _not_zero(below, arguments[1], FLOAT)


def _division(*, down: bool) -> Build:
    """Build the quotient rounded down, or towards zero."""

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        small = all(
            argument.span is not None and within(argument.span, _DOUBLES) for argument in arguments
        )
        # below 2^53, rounding the quotient to a double crosses no integer
        if result.kind == "float" or small:
            quotient = _quotient(values, arguments, FLOAT)
            quotient = (
                ev.floor(quotient)
                if down
                else ev.case([(quotient < ev.number(0), ev.ceil(quotient))], ev.floor(quotient))
            )
            return quotient if result.kind == "float" else ev.try_cast(quotient, result)
        above, below = _convert_all(INT64, values, arguments)
        below = _not_zero(below, arguments[1], INT64)
        quotient = ev.integer_division()(above, below)
        if down:
            zero, unit = ev.constant(0, INT64), ev.constant(1, INT64)
            quotient = quotient - ev.case(
                [
                    (
                        (_modulus(above, below, arguments) != zero)
                        & ((above < zero) != (below < zero)),
                        unit,
                    )
                ],
                zero,
            )
        return ev.try_cast(quotient, result)

    return build


def _modulus(above: Value, below: Value, arguments: Sequence[Argument]) -> Value:
    """Build SQL's % of 64-bit integers. DuckDB fails for the least integer % −1, so −1 is replaced
    by 1, which gives the same remainder.
    """
    ends = arguments[1].span
    may_be_minus_one = ends is None or ends[0] <= -1 <= ends[1]
    return above % (
        ev.case([(below == ev.constant(-1, INT64), ev.constant(1, INT64))], below)
        if may_be_minus_one
        else below
    )


def _remainder(*, down: bool) -> Build:
    """Build the remainder with the sign of the divisor (`down`) or of the dividend."""

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        wide = FLOAT if result.kind == "float" else INT64
        above, below = _convert_all(wide, values, arguments)
        below = _not_zero(below, arguments[1], wide)
        remainder = above % below if wide == FLOAT else _modulus(above, below, arguments)
        if down:
            ends = arguments[1].span
            # twice the divisor may not fit into 64 bits
            if wide == INT64 and not (ends and within(ends, _HALF)):
                remainder, below = ev.cast(remainder, _HUGE), ev.cast(below, _HUGE)
            remainder = (remainder + below) % below
        return remainder if wide == FLOAT else ev.try_cast(remainder, result)

    return build


def _power(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    base, exponent = _convert_all(result, values, arguments)
    if not (arguments[1].span and arguments[1].span[0] >= 0):
        zero = ev.number(0)
        base = ev.case([((base == zero) & (exponent < zero), ev.null(result))], base)
    return base**exponent


def _quotients(rounding: Callable[[Fraction], int] | None = None) -> ValueRule:
    """Return the rule of a division: null where the divisor may be zero. A rounded quotient is
    rounded to a double before.
    """

    def rule(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        span = sets[1].span
        if span is None or span[0] <= 0 <= span[1]:
            return None
        ends = value_ranges.quotient()([each.span for each in sets], [])
        null = any(each.null for each in sets)
        if ends is None:
            return None
        if rounding is None:
            return arithmetic(operator.truediv, value_ranges.quotient())(
                sets, arguments, result, null
            )
        if arguments[0].type.kind == "float" or arguments[1].type.kind == "float":
            ends = Fraction(float(ends[0])), Fraction(float(ends[1]))
        low, high = rounding(ends[0]), rounding(ends[1])
        stated = sets[0].stated | sets[1].stated
        if high - low >= MOST_VALUES:
            return ValueSet(low=Fraction(low), high=Fraction(high), null=null, stated=stated)
        kind = float if result.kind == "float" else int
        return ValueSet(frozenset(map(kind, range(low, high + 1))), null=null, stated=stated)

    return rule


def _remainders(*, down: bool) -> ValueRule:
    """Return the rule of the remainder of integers by a constant."""

    def by_divisor(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        divisor = arguments[1].value
        if result.kind != "integer" or not isinstance(divisor, int) or not divisor:
            return None
        most, low, high = abs(divisor) - 1, sets[0].low, sets[0].high
        span = sets[0].span
        is_positive = span[0] >= 0 if span else isinstance(low, Fraction) and low >= 0
        is_negative = span[1] <= 0 if span else isinstance(high, Fraction) and high <= 0
        if down:
            is_positive, is_negative = divisor > 0, divisor < 0
        stated = frozenset() if down else sets[0].stated
        return ValueSet(
            low=Fraction(0 if is_positive else -most),
            high=Fraction(0 if is_negative else most),
            null=sets[0].null,
            stated=stated,
        )

    def remainder(above: int, below: int) -> int | None:
        if not below:
            return None
        return above % below if down else int(math.fmod(above, below))

    def by_value(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        small = all(each.span and within(each.span, _DOUBLES) for each in sets)
        rule = image(remainder) if small and result.kind == "integer" else None
        return rule(sets, arguments, result, null) if rule else None

    return first_of(by_value, by_divisor)


def _binary(
    name: str,
    build: Build,
    gives: Gives,
    ends: value_ranges.Rule,
    rule: str,
    **more: Unpack[Traits],
) -> Function:
    """Build a function of two numbers; one without a name in letters is an operator."""
    traits: Traits = {"passes_nan": True, "makes_nan": True, "span": ends}
    if not name.isidentifier():
        traits |= {"form": name, "operator": name}
    traits |= more
    return Function(
        name=name,
        group="arithmetic",
        takes=(NUMBER, NUMBER),
        gives=gives,
        build=build,
        rule=rule,
        **traits,
    )


_SUM, _DIFFERENCE, _PRODUCT, _OPPOSITE = (
    value_ranges.corners(operation)
    for operation in (operator.add, operator.sub, operator.mul, operator.neg)
)

FUNCTIONS = (
    _binary(
        "+",
        _in_common_type(operator.add),
        _result_type(_SUM, max),
        _SUM,
        "the sum",
        values=arithmetic(operator.add, _SUM),
    ),
    _binary(
        "-",
        _in_common_type(operator.sub),
        _result_type(_DIFFERENCE, max),
        _DIFFERENCE,
        "the difference",
        values=arithmetic(operator.sub, _DIFFERENCE),
    ),
    _binary(
        "*",
        _product,
        _result_type(_PRODUCT, sum),
        _PRODUCT,
        "the product",
        values=arithmetic(operator.mul, _PRODUCT),
    ),
    _binary(
        "/",
        _quotient,
        always(FLOAT),
        value_ranges.quotient(),
        "the quotient, a float64; null by zero",
        values=_quotients(),
        makes_null=True,
        copies=(1, 2),
    ),
    _binary(
        "//",
        _division(down=True),
        _integer_or_float(value_ranges.whole_quotient(math.floor)),
        value_ranges.quotient(math.floor),
        "the quotient rounded down, as in Python; an integer of integers; null by zero",
        values=_quotients(math.floor),
        sql=("FLOOR_DIV({all})",),
        makes_null=True,
        copies=(3, 8),
    ),
    _binary(
        "%",
        _remainder(down=True),
        _integer_or_float(value_ranges.remainder),
        value_ranges.remainder,
        (
            "the remainder with the sign of the divisor, as in Python; null by zero; with an "
            "infinite float, null"
        ),
        values=_remainders(down=True),
        sql=("FLOOR_MOD({all})",),
        makes_null=True,
        copies=(1, 8),
    ),
    _binary(
        "div",
        _division(down=False),
        _integer_or_float(value_ranges.whole_quotient(math.trunc)),
        value_ranges.quotient(math.trunc),
        "the quotient rounded towards zero, SQL's `//`; an integer of integers; null by zero",
        values=_quotients(math.trunc),
        sql=("{0} // {1}",),
        parameters="divisor",
        makes_null=True,
        copies=(3, 6),
    ),
    _binary(
        "mod",
        _remainder(down=False),
        _integer_or_float(value_ranges.remainder),
        value_ranges.remainder,
        "the remainder with the sign of the dividend, SQL's `%`; null by zero",
        values=_remainders(down=False),
        sql=("{0} % {1}",),
        parameters="divisor",
        makes_null=True,
        copies=(1, 4),
    ),
    Function(
        name="negate",
        group="arithmetic",
        takes=(NUMBER,),
        gives=_result_type(_OPPOSITE, max),
        build=_in_common_type(operator.neg),
        span=_OPPOSITE,
        values=arithmetic(operator.neg, _OPPOSITE),
        form="-({0})",
        operator="-",
        passes_nan=True,
        makes_nan=True,
        rule="the opposite",
    ),
    _binary(
        "power",
        _power,
        always(FLOAT),
        value_ranges.power,
        "a float64; null for zero to a negative power and for a negative number to a broken one",
        parameters="exponent",
        operator="**",
        passes_nan=False,
        makes_null=True,
        copies=(4, 4),
    ),
)
