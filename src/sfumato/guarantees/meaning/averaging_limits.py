"""The number of repeated answers that average the noise away.

*Apart*      The least k at which k answers of this kind no longer exclude an attacker who is wrong
             at most 5 % of the time under either neighbour: the least k with (k·g).tradeoff(α) ≤ α,
             by the best of the statements that follow from g. With k − 1 answers such an attacker
             is surely excluded.
*Averaged*   The least n at which the mean of n Laplace answers to one count is within ½ of it, so
             that rounding it gives the count, with 95 %. The sum of n two-sided geometric variables
             has the characteristic function ((1 − q)²/(1 − 2q·cos θ + q²))^n; it is summed over N
             points of the circle, which adds only what lies N or more away. An odd n is always
             better than the even one after it: a mean of ½ tells nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...errors import Refused
from ...exact.numbers import Number, positive, probability, text
from ...exact.search import first
from .. import guarantee_refusals as refusals
from ..gdp import GDP
from ..guarantee import Guarantee, reach
from ..mixed import Mixed
from ..zcdp import ZCDP

ERROR = Fraction(1, 20)
_NONE = 1e-50  # an advantage so small that no realistic number of answers adds up to anything
# the sums below err by less than 1e-12: a probability this close to the confidence does not count
_MARGIN = 1e-9


def told_apart_after(guarantee: Guarantee, error: Number = ERROR) -> int | None:
    """The least number of answers that no longer exclude an attacker with type-I and type-II error
    `error`; None if every number of answers excludes one.
    """
    a = probability(error, "error", zero=False)
    if guarantee.delta(0) < _NONE:
        return None
    converted = next(
        (g for notion in (GDP, ZCDP) if (g := reach(guarantee, notion)) is not None), None
    )  # converting before adding is far better than after
    statements = {
        repr(g): g
        for g in (guarantee, converted)
        if g is not None and not (isinstance(g, Mixed) and converted)
    }

    def answers(statement: Guarantee) -> int:
        return first(lambda k: not _excluded(k, statement, a), least=1)

    return max(map(answers, statements.values()))


def averaged_after(epsilon: Number, confidence: Number = 1 - ERROR) -> int:
    """The least number of Laplace answers at ε each whose mean, rounded, is the count itself with
    this confidence.
    """
    e = float(positive(epsilon, "epsilon"))
    c = float(probability(confidence, "confidence", zero=False))
    if e < 1e-6:
        raise refusals.EPSILON_TOO_SMALL_TO_AVERAGE(epsilon=text(positive(epsilon, "epsilon")))
    # answers at which the mean has a standard deviation of ½: where the search begins
    about = 4.0 * _variance(e)
    return (
        2
        * first(
            lambda half: within(half - 1, 2 * half - 1, e) >= c + _MARGIN,
            near=round(about),
            least=1,
        )
        - 1
    )


def within(most: int, count: int, epsilon: float) -> float:
    """P(|Z₁ + … + Z_count| ≤ most), Z the two-sided geometric law of scale 1/ε, in double
    precision.
    """
    flatness = 2.0 * _variance(epsilon)  # 1/|φ(θ)| = 1 + flatness·sin²(θ/2)
    points = (
        2 * (most + math.ceil(8.0 * math.sqrt(count * _variance(epsilon)) + 40.0 / epsilon)) + 1
    )
    total = float(2 * most + 1)
    for j in range(1, points // 2 + 1):
        half = math.pi * j / points
        weight = math.exp(-count * math.log1p(flatness * math.sin(half) ** 2))
        if weight < 1e-30:
            break
        total += 2.0 * weight * math.sin((2 * most + 1) * half) / math.sin(half)
    return total / points


def _variance(epsilon: float) -> float:
    """2q/(1 − q)², of the two-sided geometric law."""
    return 2.0 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def _excluded(count: int, guarantee: Guarantee, error: Fraction) -> bool:
    try:
        return Fraction((count * guarantee).tradeoff(error)) > error
    except Refused:  # the δ add up to 1 or more: nothing is excluded any more
        return False
