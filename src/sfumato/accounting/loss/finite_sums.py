"""Compositions with few different answers, without a lattice: every way the answers can come out is
counted, in ball arithmetic.

*Ways*      n uses of a law on r outcomes differ in how often each came: C(n + r − 1, r − 1) ways,
            which are multiplied out over the laws.
*Curve*     δ(ε) = Σ (p − e^ε·q)₊ over the ways, in both directions. It is linear in e^ε between
            losses, so Newton's method finds ε in a few steps, with logarithms in place of what
            leaves the doubles; what it finds is then checked, or moved until it passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.balls import ball, below_crossing, evaluate, precision
from .loss_laws import BOTH
from .loss_pairs import Outcomes
from .pair_of_mechanism import Parts

MOST = 2048
"""The most ways that are counted."""
_BITS = 192


def ways(parts: Parts) -> int | None:
    """Count the ways; None if some pair has infinitely many outcomes."""
    sizes = [
        (len(outcomes) if (outcomes := pair.outcomes()) is not None else 0, count)
        for pair, count in parts
        if count < 10**5
    ]
    if len(sizes) < len(parts) or any(size == 0 for size, _ in sizes):
        return None
    return math.prod(math.comb(count + size - 1, size - 1) for size, count in sizes)


def few(parts: Parts) -> bool:
    """Whether the ways are few enough to count."""
    small = all(pair.finite and count < MOST for pair, count in parts)
    number = ways(parts) if small else None
    return number is not None and number <= MOST


def delta_bounds(
    parts: Parts, epsilon: Fraction, sides: Sequence[int] = BOTH
) -> tuple[float, float]:
    """Return δ at ε, rounded down and up."""
    return max(0.0, evaluate(lambda: _delta(parts, epsilon, sides), "down")), min(
        1.0, evaluate(lambda: _delta(parts, epsilon, sides), "up")
    )


def epsilon_bounds(
    parts: Parts, delta: Fraction, sides: Sequence[int] = BOTH
) -> tuple[float, float]:
    """Return ε at δ > 0, rounded down and up; infinite if infinite losses are likelier than δ."""
    bits = _BITS + delta.denominator.bit_length() - delta.numerator.bit_length()
    with precision(bits):
        if any(
            sum((p for p, q in sums if q == 0), arb(0)) > ball(delta)
            for sums in _directions(parts, bits, sides)
        ):
            return math.inf, math.inf
    estimate = max(_newton(sums, delta) for sums in _directions(parts, bits, sides))
    low = below_crossing(lambda e: _delta(parts, e, sides), delta, estimate, bits)
    high = estimate
    step = 2.0**-52
    while high < 1e300 and not _at_most(parts, high, delta, bits, sides):
        high, step = high * (1 + step) + 2.0**-1000, 2 * step
    return low, high


def _at_most(
    parts: Parts, epsilon: float, delta: Fraction, bits: int, sides: Sequence[int]
) -> bool:
    with precision(bits):
        return bool(_delta(parts, Fraction(epsilon), sides) <= ball(delta))


def _delta(parts: Parts, epsilon: Fraction, sides: Sequence[int]) -> arb:
    """Return δ at ε in the worse direction, at the current precision."""
    growth, worst = ball(epsilon).exp(), arb(0)
    for sums in _directions(parts, ctx.prec, sides):
        worst = worst.max(sum(((p - q * growth).max(arb(0)) for p, q in sums), arb(0)))
    return worst


def _newton(sums: Sequence[tuple[arb, arb]], delta: Fraction) -> float:
    """Approximate ε in doubles, from ε = 0 upward, as the curve is convex in e^ε."""
    numbers = [(float(p.mid()), _log(p), _log(q)) for p, q in sums]
    target, epsilon = float(delta), 0.0
    for _ in range(200):
        above = [(p, q) for p, log, q in numbers if log > q + epsilon]
        least = max((q for _, q in above), default=-math.inf)
        mass = math.fsum(p for p, _ in above)
        if mass <= target or math.isinf(least):
            break
        improved = (
            math.log(mass - target)
            - least
            - math.log(math.fsum(math.exp(q - least) for _, q in above))
        )
        if improved <= epsilon * (1 + 2.0**-52):
            break
        epsilon = improved
    return epsilon


def _log(value: arb) -> float:
    """Return the logarithm of a probability, even one that underflows a double."""
    near = float(value.mid())
    return (
        math.log(near) if near > 1e-290 else -math.inf if value == 0 else float(value.log().mid())
    )


def _directions(
    parts: Parts, bits: int, sides: Sequence[int]
) -> Iterator[Sequence[tuple[arb, arb]]]:
    sums = _sums(parts, bits)
    for side in sides:
        yield sums if side == 0 else [(q, p) for p, q in sums]


@lru_cache(maxsize=16)
def _sums(parts: Parts, bits: int) -> tuple[tuple[arb, arb], ...]:
    """Return the probabilities of every way under either law."""
    with precision(bits):
        sums = [(arb(1), arb(1))]
        for pair, count in parts:
            powers = list(_powers(pair.outcomes() or [], count))
            sums = [(p * a, q * b) for p, q in sums for a, b in powers]
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
