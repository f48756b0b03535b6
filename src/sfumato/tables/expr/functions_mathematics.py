"""Roots, logarithms, exponentials and angles, all of them float64.

*Null*     where the function is undefined: roots of negative numbers, logarithms up to zero, sines
           of infinity, arc sines outside [−1, 1]. *Infinity* is a value: exp(1000) is ∞, as in
           IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from . import engine_values as ev
from . import value_ranges
from .engine_values import Value
from .promotion import convert
from .scalar_function import NUMBER, Function, always
from .types import BOOL, FLOAT


def _positive(value: Value) -> Value:
    """Return null up to zero. GREATEST skips nulls, which become zero; NULLIF turns them back."""
    import ibis

    return ibis.greatest(value, ev.number(0)).nullif(ev.number(0))


def _not_negative(value: Value) -> Value:
    return ev.where(value >= ev.number(0), value)


def _finite(value: Value) -> Value:
    return value.nullif(ev.number("inf")).nullif(ev.number("-inf"))


def _unit(value: Value) -> Value:
    return ev.where((value >= ev.number(-1)) & (value <= ev.number(1)), value)


def _unsigned(value: Value) -> Value:
    """Turn −0 into 0: Java and C disagree about the angles of −0."""
    return value + ev.number(0)


def _as_it_is(value: Value) -> Value:
    return value


def _unary(
    name: str,
    guard: Callable[[Value], Value],
    operation: Callable[[Value], Value],
    rule: str,
    *,
    copies: int = 1,
    span: value_ranges.Rule = value_ranges.unknown,
    sql: tuple[str, ...] = (),
) -> Function:
    return Function(
        name=name,
        group="mathematics",
        takes=(NUMBER,),
        gives=always(FLOAT),
        build=lambda values, arguments, result: operation(
            guard(convert(values[0], arguments[0], result))
        ),
        span=span,
        passes_nan=True,
        makes_null=guard is not _as_it_is,
        copies=(copies,),
        sql=sql,
        rule=rule,
    )


_UNIT_SPAN = value_ranges.between(-1, 1)

FUNCTIONS = (
    _unary(
        "sqrt",
        _not_negative,
        lambda x: x.sqrt(),
        "the square root; null below zero",
        copies=2,
        span=value_ranges.root,
    ),
    _unary("exp", _as_it_is, lambda x: x.exp(), "e to that power"),
    _unary("ln", _positive, lambda x: x.ln(), "the natural logarithm; null up to zero", copies=2),
    _unary(
        "log10",
        _positive,
        lambda x: x.log10(),
        "the logarithm to base 10; null up to zero",
        copies=2,
        sql=("LOG10({0})", "LOG({0})"),
    ),
    _unary(
        "log2", _positive, lambda x: x.log2(), "the logarithm to base 2; null up to zero", copies=2
    ),
    _unary(
        "sin",
        _finite,
        lambda x: x.sin(),
        "of an angle in radians; null of infinity",
        copies=4,
        span=_UNIT_SPAN,
    ),
    _unary(
        "cos",
        _finite,
        lambda x: x.cos(),
        "of an angle in radians; null of infinity",
        copies=4,
        span=_UNIT_SPAN,
    ),
    _unary("tan", _finite, lambda x: x.tan(), "of an angle in radians; null of infinity", copies=4),
    _unary(
        "asin",
        _unit,
        lambda x: x.asin(),
        "the angle in radians; null outside [−1, 1]",
        copies=3,
        span=value_ranges.between(-2, 2),
    ),
    _unary(
        "acos",
        _unit,
        lambda x: x.acos(),
        "the angle in radians; null outside [−1, 1]",
        copies=3,
        span=value_ranges.between(0, 4),
    ),
    _unary(
        "atan",
        _as_it_is,
        lambda x: x.atan(),
        "the angle in radians",
        span=value_ranges.between(-2, 2),
    ),
    Function(
        name="atan2",
        group="mathematics",
        takes=(NUMBER, NUMBER),
        gives=always(FLOAT),
        build=lambda values, arguments, result: _unsigned(
            convert(values[0], arguments[0], result)
        ).atan2(_unsigned(convert(values[1], arguments[1], result))),
        span=value_ranges.between(-4, 4),
        passes_nan=True,
        parameters="x",
        rule="the angle in radians of the point (second, first); −0 is 0",
    ),
    _unary("degrees", _as_it_is, lambda x: x.degrees(), "an angle in radians, in degrees"),
    _unary("radians", _as_it_is, lambda x: x.radians(), "an angle in degrees, in radians"),
    Function(
        name="is_finite",
        group="mathematics",
        takes=(NUMBER,),
        gives=always(BOOL),
        span=value_ranges.truth,
        build=lambda values, arguments, result: (
            convert(values[0], arguments[0], FLOAT).abs() < ev.number("inf")
        ),
        copies=(2,),
        sql=("ISFINITE({0})",),
        rule="whether a number is neither ∞ nor −∞",
    ),
)
