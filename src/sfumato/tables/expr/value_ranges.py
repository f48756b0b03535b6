"""Interval arithmetic over exact rationals: between which ends the value of an expression lies, if
its arguments lie between theirs.

*Rule*    `None` is "unknown" and comes out as it goes in. Nulls are no values: a rule speaks of the
          rows where there is one.
*Use*     from the limits of types it proves that integer and decimal arithmetic cannot overflow;
          from declared bounds it proposes bounds for expressions, which are then enforced by the
          clip whatever the proposal was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from .constants import NOTHING, Constant
from .types import Span

Spans = Sequence[Span | None]
Rule = Callable[[Spans, Sequence[Constant]], Span | None]
"""From the spans of the arguments, and their values where they are constants (None where not)."""


def unknown(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    return None


def between(low: int, high: int) -> Rule:
    """Whatever the arguments are."""
    return lambda spans, constants: (Fraction(low), Fraction(high))


def corners(function: Callable[..., Fraction]) -> Rule:
    """Of a function that takes its extremes at the ends of its arguments."""

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        known = [span for span in spans if span is not None]
        if len(known) < len(spans):
            return None
        values = [function(*ends) for ends in product(*known)]
        return min(values), max(values)

    return rule


def quotient(rounding: Callable[[Fraction], Fraction | int] = lambda value: value) -> Rule:
    """Of a division; unknown where the divisor may come near zero without being a whole number of
    something.
    """

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if len(spans) != 2 or spans[1] is None or spans[1][0] <= 0 <= spans[1][1]:
            return None
        return corners(lambda a, b: Fraction(rounding(a / b)))(spans, constants)

    return rule


def whole_quotient(rounding: Callable[[Fraction], int]) -> Rule:
    """Of a division of integers, where a divisor that is not zero is at least 1 away from it."""
    inner = quotient(rounding)

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if spans[0] is None or spans[1] is None:
            return None
        (low, high), one = spans[1], Fraction(1)
        parts = [
            part for part in ((low, min(high, -one)), (max(low, one), high)) if part[0] <= part[1]
        ]
        return (
            hull([inner((spans[0], part), constants) for part in parts])
            if parts
            else (Fraction(0), Fraction(0))
        )

    return rule


def remainder(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Less than the divisor in size, whatever its sign."""
    if spans[1] is None:
        return None
    most = max(abs(end) for end in spans[1])
    return -most, most


def absolute(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    if (span := spans[0]) is None:
        return None
    low, high = span
    return max(low, -high, Fraction(0)), max(-low, high)


def hull(spans: Spans) -> Span | None:
    """The least span that holds all of them, where all are known."""
    known = [span for span in spans if span is not None]
    filled = [span for span in known if span != NOTHING]
    return (
        (min(low for low, _ in filled), max(high for _, high in filled))
        if filled and len(known) == len(spans)
        else None
    )


def extreme(choose: Callable[..., Fraction]) -> Rule:
    """Of least and greatest, which pass over nulls: only a constant is sure to be there."""
    end = 1 if choose is min else 0

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if (whole := hull(spans)) is None:
            return None
        sure = [
            span[end]
            for span, value in zip(spans, constants, strict=True)
            if span is not None and value is not None
        ]  # NULL is not there
        tight = choose(sure) if sure else whole[end]
        return (whole[0], tight) if choose is min else (tight, whole[1])

    return rule


def rounded(value: Fraction, digits: int = 0) -> Fraction:
    """To so many decimal digits, halves away from zero."""
    unit = Fraction(10) ** -digits
    steps = math.floor(abs(value) / unit + Fraction(1, 2)) * unit
    return steps if value >= 0 else -steps


def root(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Of the square root, to 2^-64 outward."""
    if (span := spans[0]) is None or span[1] < 0:
        return None
    low, high = (math.isqrt(math.floor(max(end, Fraction(0)) * 2**128)) for end in span)
    return Fraction(low, 2**64), Fraction(high + 1, 2**64)


def power(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Of small whole powers."""
    span, exponent = spans[0], constants[1]
    if (
        span is None
        or isinstance(exponent, bool)
        or not isinstance(exponent, int | float)
        or not (0 <= exponent <= 64 and int(exponent) == exponent)
    ):
        return None
    ends = [end ** int(exponent) for end in span]
    return (
        Fraction(0) if exponent % 2 == 0 and span[0] <= 0 <= span[1] and exponent else min(ends)
    ), max(ends)
