"""Thresholds below which a group is not named: a group that one person alone makes, there or not
there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sfumato import Approx
from sfumato.mechanisms import CountThreshold, Laplace

from .arithmetic import geometric, laws, rounded_normal
from .case import Case, case

DELTA = Fraction(1, 10**6)


def named(chance: float, groups: int = 1) -> Callable[[int], Any]:
    """Whether any of the groups of the person is named."""
    total = -math.expm1(groups * math.log1p(-chance))
    return lambda present: {"named": total, "withheld": 1 - total} if present else {"withheld": 1}


def tail(cdf: Callable[[int], float], least: int) -> float:
    """P(1 + Z ≥ least)."""
    return cdf(1 - least)


def least_threshold(cdf: Callable[[int], float], delta: Fraction = DELTA) -> int:
    return next(t for t in range(10_000) if tail(cdf, t) <= delta)


def in_tenths(passes: Callable[[int], bool]) -> float:
    """P that a count of 0.1 passes, counts and noise being tenths."""
    cdf = geometric(3)
    return sum(cdf(z - 1) - cdf(z - 2) for z in range(-200, 200) if passes(z))


def float_slip() -> float:
    return in_tenths(lambda z: z * 0.1 > 0.3)  # 3·0.1 is larger than 0.3


def exact_tenths() -> float:
    return in_tenths(lambda z: Fraction(z, 10) > Fraction(3, 10))


_APPROX = Approx(1, DELTA)

_NORMAL = rounded_normal(3)

_LAPLACE = math.ceil(1 + math.log(1 / (2 * DELTA)))

_VOTE = CountThreshold(noise=Laplace(sensitivity=1, epsilon=1), delta=DELTA)
_PARTS = 3 * 64  # the weight of a person, at most 64 of it in a group
_WEIGHTS = CountThreshold(
    noise=Laplace(sensitivity=_PARTS, epsilon=1), delta=DELTA, total=_PARTS, most=64
)


CASES: dict[str, Case] = {
    "threshold-off-by-one": case(
        "keeps a group at ≥ T, where δ was computed for > T",
        "the same comparison in both",
        "D6, opendp#2922, Qrlew 0.9.27",
        laws(named(tail(geometric(1), least_threshold(geometric(1)) - 1)), _APPROX),
        laws(named(tail(geometric(1), least_threshold(geometric(1)))), _APPROX),
    ),
    "threshold-cut": case(
        "a threshold of 14.1 that is cut to 14",
        "rounded up",
        "D6, google#101",
        laws(named(tail(geometric(1), int(1 + math.log(1 / (2 * DELTA))))), _APPROX),
        laws(named(tail(geometric(1), _LAPLACE)), _APPROX),
    ),
    "threshold-of-another-law": case(
        "the threshold of Laplace noise for Gaussian noise",
        "of the noise that is drawn",
        "D6, smartnoise-sdk#204",
        laws(named(tail(_NORMAL, _LAPLACE)), _APPROX),
        laws(named(tail(_NORMAL, least_threshold(_NORMAL))), _APPROX),
    ),
    "threshold-for-one-group": case(
        "the threshold for one group, where a person is in five",
        "for all five",
        "Qrlew 0.9.26",
        laws(named(tail(geometric(5), least_threshold(geometric(5))), 5), _APPROX),
        laws(named(tail(geometric(5), least_threshold(geometric(5), DELTA / 5)), 5), _APPROX),
    ),
    "threshold-float-slip": case(
        "compares tenths in doubles: 3 · 0.1 > 0.3",
        "compares them exactly",
        "opendp#941",
        laws(named(float_slip()), Approx(1, exact_tenths())),
        laws(named(exact_tenths()), Approx(1, exact_tenths())),
    ),
    "threshold-of-a-count-one-lower": case(
        "shows a count from one below its threshold on",
        "from the threshold on",
        "D6",
        laws(named(float(_VOTE.law.tail(_VOTE.threshold - 2))), _APPROX),
        laws(named(_VOTE.keep_probability(1)), _APPROX),
    ),
    "threshold-without-ramp": case(
        "lets every group take part, where a person weighs little in many groups",
        "in proportion to its weight, up to the ramp",
        "D6",
        laws(named(float(_WEIGHTS.law.tail(_WEIGHTS.threshold - 1)), _PARTS), _APPROX),
        laws(named(_WEIGHTS.keep_probability(1), _PARTS), _APPROX),
    ),
}
