"""Absolute value, sign, rounding and clipping. Floats stay floats: no integer is the floor of
1e300.

*Halves*   are rounded away from zero, in floats as in decimals.
*Buckets*  Edge k of WIDTH_BUCKET is low + k·(high − low)/n, computed exactly. Integers and decimals
           are compared with it exactly, floats with the double next to it. So 0.29 lies in bucket
           30 of 100 between 0 and 1, where a division in doubles says 29.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from . import constants, value_ranges
from . import engine_values as ev
from . import expr_refusals as refusals
from .constants import Constant, within
from .engine_values import Value
from .promotion import arithmetic_type, common_type, convert, exact_type
from .scalar_function import NUMBER, Argument, Build, Function, always, constant_slot, shorten
from .types import FLOAT, INT8, INT32, INT64, Span, Type
from .value_sets import arithmetic, by_span, first_of, listing, multiples

DIGITS = constant_slot(
    "a number of digits from -15 to 15",
    lambda value: isinstance(value, int) and -15 <= value <= 15,
    "2",
    "integer",
)
END = constant_slot(
    "a finite number",
    lambda value: constants.span(value) is not None,
    "0",
    "integer",
    "decimal",
    "float",
)


def _same_or_float(argument: Argument, rule: value_ranges.Rule) -> Type:
    kind = argument.type
    return (
        FLOAT
        if kind.kind == "float"
        else exact_type(rule([argument.span], []), 0, integral=kind.kind == "integer")
    )


def _build_whole(operation: Callable[[Value], Value]) -> Build:
    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        kind = arguments[0].type
        if kind.kind == "integer":
            return convert(values[0], arguments[0], result)
        if kind.kind == "float":
            return operation(convert(values[0], arguments[0], FLOAT))
        return ev.try_cast(operation(values[0]) if kind.scale else values[0], result)

    return build


def _towards_zero(value: Value) -> Value:
    zero = ev.constant(0.0, Type.from_ibis(value.type(), "trunc"))
    return ev.case([(value < zero, ev.ceil(value))], ev.floor(value))


def _step(
    name: str,
    operation: Callable[[Value], Value],
    exactly: Callable[[Fraction], int],
    rule: str,
    copies: int = 1,
) -> Function:
    span = value_ranges.corners(lambda value: Fraction(exactly(value)))
    return Function(
        name=name,
        group="rounding",
        takes=(NUMBER,),
        gives=lambda arguments: _same_or_float(arguments[0], span),
        build=_build_whole(operation),
        span=span,
        values=multiples(lambda end, arguments: exactly(end)),
        passes_nan=True,
        copies=(copies,),
        rule=rule,
    )


def _absolute(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    size = convert(values[0], arguments[0], result).abs()
    return size if result == FLOAT else ev.try_cast(size, result)


def _digits(argument: Argument) -> int:
    assert isinstance(argument.value, int)
    return argument.value


def _round_span(spans: value_ranges.Spans, values: Sequence[Constant]) -> Span | None:
    digits = values[1]
    return (
        value_ranges.corners(lambda value: value_ranges.round_half_away(value, digits))(
            spans[:1], []
        )
        if isinstance(digits, int)
        else None
    )


def _round_unit(arguments: Sequence[Argument]) -> Fraction | None:
    """Return the step of rounded numbers; None where an engine rounds a double to them, other than
    to whole numbers.
    """
    digits, kind = _digits(arguments[1]), arguments[0].type
    if kind.kind == "float":
        return Fraction(1) if digits == 0 else None
    if kind.kind == "decimal" and digits < 0:
        return None
    return Fraction(10) ** -min(digits, kind.scale)


def _round_end(end: Fraction, digits: int) -> Fraction | None:
    """Round an end; None where the engine's doubles are too coarse for it."""
    is_exact = digits >= 0 or abs(end) < 2**52
    return value_ranges.round_half_away(end, digits) if is_exact else None


def _round_gives(arguments: Sequence[Argument]) -> Type:
    number, digits = arguments[0], _digits(arguments[1])
    kind = number.type
    if kind.kind == "integer" and (
        digits >= 0 or (number.span and within(number.span, (Fraction(-(2**52)), Fraction(2**52))))
    ):
        return exact_type(_round_span([number.span, None], [None, digits]), 0, integral=True)
    if kind.kind == "decimal" and digits >= 0:
        return exact_type(
            _round_span([number.span, None], [None, digits]),
            min(digits, kind.scale),
            integral=False,
        )
    return FLOAT


def _round(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    digits = _digits(arguments[1])
    if digits >= 0 and result.kind != "float":
        # a cast to fewer digits rounds halves away from zero
        return ev.try_cast(values[0], result)
    number = convert(values[0], arguments[0], FLOAT)
    if digits >= 0:
        return ev.round_to(number, digits)
    unit = ev.number(10.0**-digits)  # DuckDB's own rounding to tens makes 0 of infinity
    multiple = ev.round_to(number / unit, 0) * unit
    return multiple if result == FLOAT else ev.try_cast(multiple, result)


def _clip_gives(arguments: Sequence[Argument]) -> Type:
    number, low, high = arguments
    if low.span and high.span and low.span[0] > high.span[0]:
        raise refusals.CLIP_BOUNDS_REVERSED(
            value=shorten(number.text, 60), low=low.text, high=high.text
        )
    return common_type(arguments, "clip")


def _clip(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    number, low, high = (
        convert(value, argument, result) for value, argument in zip(values, arguments, strict=True)
    )
    return ev.case([(number < low, low), (number > high, high)], number)


def _clip_span(spans: value_ranges.Spans, values: Sequence[Constant]) -> Span | None:
    number, low, high = spans
    if low is None or high is None:
        return None
    ends = number or (low[0], high[0])
    return min(max(ends[0], low[0]), high[0]), max(min(ends[1], high[0]), low[0])


MOST_BUCKETS = 100
_LARGEST = 10**15
_FINEST = 22  # digits after the point, beside which 10^15 fits a decimal


def _is_bucket_end(value: Constant) -> bool:
    return (
        isinstance(value, int | float | Decimal)
        and not isinstance(value, bool)
        and abs(Fraction(str(value))) <= _LARGEST
    )


BUCKET_END = constant_slot(
    "a number between -10^15 and 10^15", _is_bucket_end, "0", "integer", "decimal", "float"
)
BUCKETS = constant_slot(
    f"a whole number from 1 to {MOST_BUCKETS}",
    lambda value: isinstance(value, int) and 1 <= value <= MOST_BUCKETS,
    "10",
    "integer",
)


def _bucket_type(arguments: Sequence[Argument]) -> Type:
    value, low, high, count = arguments
    if not _as_written(low.value) < _as_written(high.value):
        raise refusals.BUCKETS_REVERSED(
            value=shorten(value.text, 60), low=low.text, high=high.text, count=count.text
        )
    return INT32


def _as_written(end: Constant) -> Fraction:
    """Return an end as written: a float by its shortest text."""
    return Fraction(str(end))


def edges_of(low: Constant, high: Constant, count: Constant) -> list[Fraction]:
    """Return the edges of the buckets, both ends too."""
    assert isinstance(count, int)
    first, last = _as_written(low), _as_written(high)
    return [first + (last - first) * k / count for k in range(count + 1)]


def _build_bucket(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    number, _, _, count = arguments
    edges = edges_of(*(argument.value for argument in arguments[1:]))
    value, limits = _comparable(values[0], number.type, edges)
    branches = [(value < limit, ev.constant(place, INT32)) for place, limit in enumerate(limits)]
    assert isinstance(count.value, int)
    beyond = (value >= limits[-1], ev.constant(count.value + 1, INT32))
    return ev.case([*branches, beyond], ev.null(result))


def _comparable(value: Value, kind: Type, edges: Sequence[Fraction]) -> tuple[Value, list[Value]]:
    """Return the value and the edges in a type that compares them exactly: x < edge is the same as
    x < the next integer, or the next decimal of that scale.
    """
    if kind.kind == "integer":
        return ev.cast(value, INT64), [ev.constant(math.ceil(edge), INT64) for edge in edges]
    if kind.kind == "decimal" and kind.scale <= _FINEST:
        wide = Type("decimal", precision=38, scale=kind.scale)
        steps = [math.ceil(edge * 10**kind.scale) for edge in edges]
        return ev.cast(value, wide), [
            ev.constant(Decimal(step).scaleb(-kind.scale), wide) for step in steps
        ]
    return ev.cast(value, FLOAT), [ev.number(float(edge)) for edge in edges]


def _bucket_span(spans: Sequence[Span | None], constants: Sequence[Constant]) -> Span:
    count = constants[-1]
    assert isinstance(count, int)
    return Fraction(0), Fraction(count + 1)


FUNCTIONS = (
    Function(
        name="abs",
        group="rounding",
        takes=(NUMBER,),
        gives=lambda arguments: arithmetic_type(
            value_ranges.absolute([arguments[0].span], []), arguments, arguments[0].type.scale
        ),
        build=_absolute,
        span=value_ranges.absolute,
        values=arithmetic(abs, value_ranges.absolute),
        passes_nan=True,
        operator="abs",
        rule="the size without the sign",
    ),
    Function(
        name="sign",
        group="rounding",
        takes=(NUMBER,),
        gives=always(INT8),
        build=lambda values, arguments, result: ev.cast(values[0].sign(), result),
        span=value_ranges.corners(lambda value: Fraction((value > 0) - (value < 0))),
        values=first_of(
            by_span(value_ranges.corners(lambda value: Fraction((value > 0) - (value < 0)))),
            lambda sets, arguments, result, null: listing(-1, 0, 1, null=null),
        ),
        copies=(2,),
        rule="−1, 0 or 1, an int8",
    ),
    _step("floor", ev.floor, math.floor, "the next whole number below"),
    _step("ceil", ev.ceil, math.ceil, "the next whole number above"),
    _step("trunc", _towards_zero, math.trunc, "the next whole number towards zero", copies=3),
    Function(
        name="round",
        group="rounding",
        takes=(NUMBER, DIGITS),
        gives=_round_gives,
        build=_round,
        span=_round_span,
        values=multiples(
            lambda end, arguments: _round_end(end, _digits(arguments[1])), _round_unit
        ),
        parameters="digits",
        operator="round",
        last=0,
        passes_nan=True,
        rule="to a constant number of digits after the point (below zero: before it), halves "
        "away from zero",
    ),
    Function(
        name="clip",
        group="rounding",
        takes=(NUMBER, END, END),
        gives=_clip_gives,
        build=_clip,
        span=_clip_span,
        values=by_span(_clip_span),
        sql=("CLIP({all})", "CLAMP({all})"),
        parameters="low, high",
        copies=(6,),
        rule="the number, or the end of [low, high] that it lies beyond; low and high are "
        "constants",
    ),
    Function(
        name="width_bucket",
        group="rounding",
        takes=(NUMBER, BUCKET_END, BUCKET_END, BUCKETS),
        gives=_bucket_type,
        build=_build_bucket,
        span=_bucket_span,
        parameters="low, high, count",
        copies=(MOST_BUCKETS + 2, 0),
        costs=lambda count: count + 2 if isinstance(count, int) else MOST_BUCKETS,
        rule="the number of the bucket of the same width, 1 to the count; 0 below, one more above; "
        "an int32",
    ),
)
