"""Compositions with few different answers, without any lattice: every way the answers may come out is counted, in ball arithmetic.

*Ways*      n uses of a law on r outcomes differ in how often each came: C(n + r − 1, r − 1) ways, which are multiplied out over the laws.
*Curve*     δ(ε) = Σ (p − e^ε·q)₊ over the ways, in both directions. It is linear in e^ε between losses, so Newton's method finds ε in a few steps; what it
            finds is then checked, or moved until it passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ..exact.balls import ball, evaluate, precision
from .pairs import Outcomes, Pair
from .pairs_of import Parts

MOST = 2048
"""Ways that are told apart."""
_BITS = 192


def ways(parts: Parts) -> int | None:
    """How many there are; None where an outcome is not one of finitely many."""
    sizes = [(len(found) if (found := pair.outcomes()) is not None else 0, count) for pair, count in parts if count < 10**5]
    if len(sizes) < len(parts) or any(size == 0 for size, _ in sizes):
        return None
    return math.prod(math.comb(count + size - 1, size - 1) for size, count in sizes)


def few(parts: Parts) -> bool:
    """Whether this is the way to do it."""
    found = ways(parts) if all(_small(pair, count) for pair, count in parts) else None
    return found is not None and found <= MOST


def _small(pair: Pair, count: int) -> bool:
    return pair.finite and count < MOST


def delta_bounds(parts: Parts, epsilon: Fraction) -> tuple[float, float]:
    """δ at ε, rounded down and up."""
    return evaluate(lambda: _delta(parts, epsilon), "down"), min(1.0, evaluate(lambda: _delta(parts, epsilon), "up"))


def epsilon_bounds(parts: Parts, delta: Fraction) -> tuple[float, float]:
    """ε at δ > 0, rounded down and up; infinite where infinite losses are more likely than δ."""
    found = max(_newton(sums, delta) for sums in _both(parts, _BITS))
    if math.isinf(found):
        return found, found
    low, high = max(0.0, found * (1 - 2.0**-50)), found * (1 + 2.0**-50)
    step = 2.0**-50
    while high < 1e300 and not _at_most(parts, high, delta):
        high, step = high * (1 + step) + 2.0**-1000, 2 * step
    step = 2.0**-50
    while low > 0 and not _at_least(parts, low, delta):
        low, step = max(0.0, low * (1 - step) if low > 1e-280 else 0.0), 2 * step
    return low, high


def _at_most(parts: Parts, epsilon: float, delta: Fraction) -> bool:
    with precision(_BITS):
        return bool(_delta(parts, Fraction(epsilon)) <= ball(delta))


def _at_least(parts: Parts, epsilon: float, delta: Fraction) -> bool:
    with precision(_BITS):
        return bool(_delta(parts, Fraction(epsilon)) >= ball(delta))


def _delta(parts: Parts, epsilon: Fraction) -> arb:
    """At the precision that is set: the worse of the two directions."""
    growth = ball(epsilon).exp()
    found = [sum(((p - q * growth).max(arb(0)) for p, q in sums), arb(0)) for sums in _both(parts, ctx.prec)]
    return found[0].max(found[1])


def _newton(sums: Sequence[tuple[arb, arb]], delta: Fraction) -> float:
    """ε in doubles, nearly: from ε = 0 upward, as the curve is convex in e^ε."""
    numbers = [(float(p.mid()), float(q.mid())) for p, q in sums]
    target, growth = float(delta), 1.0
    for _ in range(200):
        above = [(p, q) for p, q in numbers if p > q * growth]
        p, q = math.fsum(p for p, _ in above), math.fsum(q for _, q in above)
        if p - q * growth <= target or not above:
            break
        if q == 0.0:
            return math.inf
        growth = max((p - target) / q, growth * (1 + 2.0**-52))
    return math.log(growth)


def _both(parts: Parts, bits: int) -> tuple[Sequence[tuple[arb, arb]], Sequence[tuple[arb, arb]]]:
    sums = _sums(parts, bits)
    return sums, [(q, p) for p, q in sums]


@lru_cache(maxsize=16)
def _sums(parts: Parts, bits: int) -> tuple[tuple[arb, arb], ...]:
    """The probabilities of every way by either law."""
    with precision(bits):
        sums = [(arb(1), arb(1))]
        for pair, count in parts:
            own = list(_powers(pair.outcomes() or [], count))
            sums = [(p * a, q * b) for p, q in sums for a, b in own]
    return tuple(sums)


def _powers(outcomes: Outcomes, count: int) -> Iterator[tuple[arb, arb]]:
    (a, b), *rest = outcomes
    if not rest:
        yield a**count, b**count
        return
    for n in range(count + 1):
        p, q = math.comb(count, n) * a**n, math.comb(count, n) * b**n
        for x, y in _powers(rest, count - n):
            yield p * x, q * y
