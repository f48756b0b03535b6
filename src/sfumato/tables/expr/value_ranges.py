"""Interval arithmetic over exact rationals: compute the ends between which an expression lies from
the ends of its arguments.

*Rule*    `None` means unknown; a rule with an unknown argument returns None. Nulls are not values:
          a rule is about the rows that have a value.
*Use*     From the limits of types it proves that integer and decimal arithmetic cannot overflow.
          From declared bounds it proposes bounds for expressions; the clip enforces them whatever
          the proposal was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from .constants import EMPTY_SPAN, Constant
from .types import Span

Spans = Sequence[Span | None]
Rule = Callable[[Spans, Sequence[Constant]], Span | None]
"""A function of the spans of the arguments and of their values (None unless constant)."""


def unknown(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    return None


def between(low: int, high: int) -> Rule:
    """Return a rule with fixed ends, for any arguments."""
    return lambda spans, constants: (Fraction(low), Fraction(high))


TRUTH: Span = (Fraction(0), Fraction(1))
"""The ends of truth values, as numbers."""


def truth(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    return TRUTH


def corners(function: Callable[..., Fraction]) -> Rule:
    """Return the rule of a function whose extremes lie at the ends of its arguments."""

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        known_spans = [span for span in spans if span is not None]
        if len(known_spans) < len(spans):
            return None
        values = [function(*ends) for ends in product(*known_spans)]
        return min(values), max(values)

    return rule


def quotient(rounding: Callable[[Fraction], Fraction | int] = lambda value: value) -> Rule:
    """Return the rule of a division; the result is unknown if the divisor may be near zero."""

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if len(spans) != 2 or spans[1] is None or spans[1][0] <= 0 <= spans[1][1]:
            return None
        return corners(lambda a, b: Fraction(rounding(a / b)))(spans, constants)

    return rule


def whole_quotient(rounding: Callable[[Fraction], int]) -> Rule:
    """Return the rule of a division of integers: a divisor other than 0 is at least 1 in size."""
    inner = quotient(rounding)

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if spans[0] is None or spans[1] is None:
            return None
        (low, high), unit = spans[1], Fraction(1)
        parts = [
            part for part in ((low, min(high, -unit)), (max(low, unit), high)) if part[0] <= part[1]
        ]
        return (
            hull([inner((spans[0], part), constants) for part in parts])
            if parts
            else (Fraction(0), Fraction(0))
        )

    return rule


def remainder(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Bound a remainder: it is smaller in size than the divisor."""
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
    """Return the least span that holds all spans, or None if one is unknown."""
    known_spans = [span for span in spans if span is not None]
    filled = [span for span in known_spans if span != EMPTY_SPAN]
    return (
        (min(low for low, _ in filled), max(high for _, high in filled))
        if filled and len(known_spans) == len(spans)
        else None
    )


def extreme(choose: Callable[..., Fraction]) -> Rule:
    """Return the rule of least or greatest. They skip nulls, so only a constant surely counts."""
    end = 1 if choose is min else 0

    def rule(spans: Spans, constants: Sequence[Constant]) -> Span | None:
        if (outer := hull(spans)) is None:
            return None
        # a constant NULL does not count
        sure = [
            span[end]
            for span, value in zip(spans, constants, strict=True)
            if span is not None and value is not None
        ]
        tight = choose(sure) if sure else outer[end]
        return (outer[0], tight) if choose is min else (tight, outer[1])

    return rule


def round_half_away(value: Fraction, digits: int = 0) -> Fraction:
    """Round to `digits` decimal places, halves away from zero."""
    unit = Fraction(10) ** -digits
    steps = math.floor(abs(value) / unit + Fraction(1, 2)) * unit
    return steps if value >= 0 else -steps


def root(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Bound the square root, rounded outward to multiples of 2^-64."""
    if (span := spans[0]) is None or span[1] < 0:
        return None
    low, high = (math.isqrt(math.floor(max(end, Fraction(0)) * 2**128)) for end in span)
    return Fraction(low, 2**64), Fraction(high + 1, 2**64)


def power(spans: Spans, constants: Sequence[Constant]) -> Span | None:
    """Bound whole powers from 0 to 64; other powers are unknown."""
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
