"""Sums, products, quotients and remainders.

*Exact*   integers and decimals stay what they are while every value that their types allow fits (64
          bits, 38 digits); beyond that the result is a float64.
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
from typing import Any

from . import engine_values as ev
from . import value_ranges
from .constants import within
from .engine_values import Value
from .promotion import arithmetic, convert, exact
from .scalar_function import NUMBER, Argument, Build, Function, Gives, always
from .types import FLOAT, INT64, Type
from .value_ranges import hull

_HUGE = Type("decimal", precision=38)
_DOUBLES = (Fraction(-(2**53)), Fraction(2**53))
_HALF = (Fraction(-(2**62)), Fraction(2**62))


def _gives(rule: value_ranges.Rule, scale: Callable[..., int]) -> Gives:
    return lambda arguments: arithmetic(
        rule([argument.span for argument in arguments], []),
        arguments,
        scale(argument.type.scale for argument in arguments),
    )


def _whole(rule: value_ranges.Rule) -> Gives:
    """An integer of integers, else a float."""

    def gives(arguments: Sequence[Argument]) -> Type:
        whole = all(argument.type.kind == "integer" for argument in arguments)
        return (
            exact(rule([argument.span for argument in arguments], []), 0, whole=True)
            if whole
            else FLOAT
        )

    return gives


def _as(to: Type, values: Sequence[Value], arguments: Sequence[Argument]) -> list[Value]:
    return [convert(value, argument, to) for value, argument in zip(values, arguments, strict=True)]


def _alike(operation: Callable[..., Value]) -> Build:
    """All arguments as one type that holds them and the result (32768 fits no int16, and −32768
    does), then the operation, then the cast: DuckDB widens a sum of decimals by a digit.
    """

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        if result == FLOAT:
            return operation(*_as(FLOAT, values, arguments))
        wide = exact(
            hull([result.limits, *(argument.type.limits for argument in arguments)]),
            result.scale,
            whole=result.kind == "integer",
        )
        return ev.try_cast(
            operation(*_as(result if wide == FLOAT else wide, values, arguments)), result
        )

    return build


def _product(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    if result.kind != "decimal":
        return _alike(operator.mul)(values, arguments, result)
    # DuckDB multiplies decimals of up to 18 digits in 64 bits and fails where the product has more,
    # so one of them is made wide.
    first, second = (
        exact(argument.type.limits, argument.type.scale, whole=False) for argument in arguments
    )
    return ev.try_cast(
        ev.product(
            convert(values[0], arguments[0], replace(first, precision=38)),
            convert(values[1], arguments[1], second),
        ),
        result,
    )


def _not_zero(value: Value, argument: Argument, known: Type) -> Value:
    return (
        value
        if argument.fixed and argument.value
        else value.nullif(ev.constant(0 if known.kind == "integer" else 0.0, known))
    )


def _quotient(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    above, below = _as(FLOAT, values, arguments)
    return above / _not_zero(below, arguments[1], FLOAT)


def _division(*, down: bool) -> Build:
    """Rounded down, or towards zero."""

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        small = all(
            argument.span is not None and within(argument.span, _DOUBLES) for argument in arguments
        )
        if (
            result.kind == "float" or small
        ):  # the quotient of such integers is rounded to a double on its own side of every integer
            made = _quotient(values, arguments, FLOAT)
            made = (
                ev.floor(made)
                if down
                else ev.case([(made < ev.number(0), ev.ceil(made))], ev.floor(made))
            )
            return made if result.kind == "float" else ev.try_cast(made, result)
        above, below = _as(INT64, values, arguments)
        below = _not_zero(below, arguments[1], INT64)
        made = ev.integer_division()(above, below)
        if down:
            zero, one = ev.constant(0, INT64), ev.constant(1, INT64)
            made = made - ev.case(
                [
                    (
                        (_modulus(above, below, arguments) != zero)
                        & ((above < zero) != (below < zero)),
                        one,
                    )
                ],
                zero,
            )
        return ev.try_cast(made, result)

    return build


def _modulus(above: Value, below: Value, arguments: Sequence[Argument]) -> Value:
    """SQL's %, of 64-bit integers. The least of them has no remainder by −1 in DuckDB, but an
    error: it is the same as by 1.
    """
    ends = arguments[1].span
    one_less = ends is None or ends[0] <= -1 <= ends[1]
    return above % (
        ev.case([(below == ev.constant(-1, INT64), ev.constant(1, INT64))], below)
        if one_less
        else below
    )


def _remainder(*, down: bool) -> Build:
    """With the sign of the divisor, or of the dividend."""

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        wide = FLOAT if result.kind == "float" else INT64
        above, below = _as(wide, values, arguments)
        below = _not_zero(below, arguments[1], wide)
        made = above % below if wide == FLOAT else _modulus(above, below, arguments)
        if down:
            ends = arguments[1].span
            if wide == INT64 and not (
                ends and within(ends, _HALF)
            ):  # twice the divisor may leave 64 bits
                made, below = ev.cast(made, _HUGE), ev.cast(below, _HUGE)
            made = (made + below) % below
        return made if wide == FLOAT else ev.try_cast(made, result)

    return build


def _power(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    base, exponent = _as(result, values, arguments)
    if not (arguments[1].span and arguments[1].span[0] >= 0):
        zero = ev.number(0)
        base = ev.case([((base == zero) & (exponent < zero), ev.null(result))], base)
    return base**exponent


def _two(
    name: str, build: Build, gives: Gives, span: value_ranges.Rule, rule: str, **more: Any
) -> Function:
    return Function(
        name=name,
        group="arithmetic",
        takes=(NUMBER, NUMBER),
        gives=gives,
        build=build,
        span=span,
        rule=rule,
        **({"passes_nan": True, "makes_nan": True} | more),
    )


_SUM, _DIFFERENCE, _PRODUCT, _OPPOSITE = (
    value_ranges.corners(operation)
    for operation in (operator.add, operator.sub, operator.mul, operator.neg)
)

FUNCTIONS = (
    _two("+", _alike(operator.add), _gives(_SUM, max), _SUM, "the sum", form="+"),
    _two(
        "-", _alike(operator.sub), _gives(_DIFFERENCE, max), _DIFFERENCE, "the difference", form="-"
    ),
    _two("*", _product, _gives(_PRODUCT, sum), _PRODUCT, "the product", form="*"),
    _two(
        "/",
        _quotient,
        always(FLOAT),
        value_ranges.quotient(),
        "the quotient, a float64; null by zero",
        form="/",
        makes_null=True,
        copies=(1, 2),
    ),
    _two(
        "//",
        _division(down=True),
        _whole(value_ranges.whole_quotient(math.floor)),
        value_ranges.quotient(math.floor),
        "the quotient rounded down, as in Python; an integer of integers; null by zero",
        form="//",
        makes_null=True,
        copies=(3, 8),
    ),
    _two(
        "%",
        _remainder(down=True),
        _whole(value_ranges.remainder),
        value_ranges.remainder,
        (
            "the remainder with the sign of the divisor, as in Python; null by zero; with an "
            "infinite float, null"
        ),
        form="%",
        makes_null=True,
        copies=(1, 8),
    ),
    _two(
        "div",
        _division(down=False),
        _whole(value_ranges.whole_quotient(math.trunc)),
        value_ranges.quotient(math.trunc),
        "the quotient rounded towards zero, SQL's `//`; an integer of integers; null by zero",
        makes_null=True,
        copies=(3, 6),
    ),
    _two(
        "mod",
        _remainder(down=False),
        _whole(value_ranges.remainder),
        value_ranges.remainder,
        "the remainder with the sign of the dividend, SQL's `%`; null by zero",
        makes_null=True,
        copies=(1, 4),
    ),
    Function(
        name="negate",
        group="arithmetic",
        takes=(NUMBER,),
        gives=_gives(_OPPOSITE, max),
        build=_alike(operator.neg),
        span=_OPPOSITE,
        form="-({0})",
        passes_nan=True,
        makes_nan=True,
        rule="the opposite",
    ),
    _two(
        "power",
        _power,
        always(FLOAT),
        value_ranges.power,
        "a float64; null for zero to a negative power and for a negative number to a broken one",
        passes_nan=False,
        makes_null=True,
        copies=(4, 4),
    ),
)
