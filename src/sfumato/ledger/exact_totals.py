"""Exact totals as integer pairs (numerator, denominator) in lowest terms, much faster than
`Fraction`.

*Rounding*  Up, and only if a denominator has grown beyond 512 bits: to the next multiple of 2^-256.
            So every charge is constant work, and no total is ever below the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import gcd

from ..guarantees.guarantee import Numbers
from ..guarantees.stored_guarantee import ratio

Ratio = tuple[int, int]
Ratios = tuple[Ratio, ...]

ALL = 1 << 60  # the parts that a whole budget has
_LONGEST = 512  # bits of a denominator; a sum with a longer one is rounded up to
_QUANTUM = 1 << 256  # this part of a unit
_LATELY = 256


def ratios(numbers: Iterable[Fraction]) -> Ratios:
    return tuple([number.as_integer_ratio() for number in numbers])


def fractions(totals: Ratios) -> Numbers:
    return tuple([Fraction(n, d) for n, d in totals])


def plus(totals: Ratios, cost: Ratios) -> Ratios:
    return tuple(
        [_short(n * e + m * d, d * e) for (n, d), (m, e) in zip(totals, cost, strict=True)]
    )


def minus(totals: Ratios, cost: Ratios) -> Ratios:
    """Subtract a cost, but not below zero."""
    return tuple(
        [_short(max(0, n * e - m * d), d * e) for (n, d), (m, e) in zip(totals, cost, strict=True)]
    )


def within(totals: Ratios, limits: Ratios) -> bool:
    """Whether no total exceeds its limit."""
    return all(n * e <= m * d for (n, d), (m, e) in zip(totals, limits, strict=True))


def parts(totals: Ratios, limits: Ratios) -> int:
    """Return the largest spent fraction of a limit, in units of 2^-60, rounded down; `ALL` + 1 if a
    total exceeds its limit.
    """
    most = 0
    for (n, d), (m, e) in zip(totals, limits, strict=True):
        if n * e > m * d:
            return ALL + 1
        if n:
            most = max(most, n * e * ALL // (m * d))
    return most


def spend(totals: Ratios, cost: Ratios, limits: Ratios) -> tuple[Ratios, str, int]:
    """Add a cost. Returns the sum, its stored text and its parts, as `plus`, `write_totals` and
    `parts` do, because every charge needs all three.
    """
    # as most books count; a loop would take a tenth of a commit, which has left all caches cold
    if len(totals) == len(cost) == len(limits) == 1:
        sum_, text, most = _spend(totals[0], cost[0], limits[0])
        return (sum_,), f'["{text}"]', most
    sums, texts, shares = zip(
        *[_spend(*numbers) for numbers in zip(totals, cost, limits, strict=True)], strict=True
    )
    return sums, '["' + '", "'.join(texts) + '"]', max(shares)


def write_totals(totals: Ratios) -> str:
    """Return totals as the table `balance` stores them."""
    return cache_totals('["' + '", "'.join([_text(n, d) for n, d in totals]) + '"]', totals)


def cache_totals(text: str, totals: Ratios) -> str:
    """Cache the totals of a text, which is usually read soon, and return the text."""
    if len(_WRITTEN) >= _LATELY:
        _WRITTEN.clear()
    _WRITTEN[text] = totals
    return text


def read_totals(text: str) -> Ratios:
    """Parse stored totals. Most charges find in the cache what the last one wrote."""
    return _WRITTEN.get(text) or parse_ratios(json.loads(text))


def parse_ratios(texts: Iterable[str]) -> Ratios:
    """Parse the exact numbers of an entry."""
    return tuple([_exact(text) for text in texts])


_WRITTEN: dict[str, Ratios] = {}


@lru_cache(maxsize=1024)
def _exact(text: str) -> Ratio:
    return ratio(text).as_integer_ratio()


def _spend(total: Ratio, due: Ratio, limit: Ratio) -> tuple[Ratio, str, int]:
    """Add one number of a cost: see `spend`."""
    (n, d), (m, e), (b, f) = total, due, limit
    sum_ = n, d = _short(n * e + m * d, d * e)
    share = n * f * ALL // (b * d) if n * f <= b * d != 0 else ALL + 1 if n else 0
    return sum_, _text(n, d), share


def _text(n: int, d: int) -> str:
    return f"{n}/{d}" if d != 1 else f"{n}"


def _short(n: int, d: int) -> Ratio:
    common = gcd(n, d)
    if common != 1:
        n, d = n // common, d // common
    if d.bit_length() <= _LONGEST:
        return n, d
    return Fraction(-(-n * _QUANTUM // d), _QUANTUM).as_integer_ratio()
