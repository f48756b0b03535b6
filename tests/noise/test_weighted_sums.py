"""Sums of noise: the bound holds against the exact law of the sum, by arithmetic, and is not
loose.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from sfumato.noise import weighted_sums
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.noise.weighted_sums import SumLaw, bound_between, sum_bound

REACH = 400


def exact(terms: list[tuple[Any, int]]) -> np.ndarray:
    """The law of Σ weight·Z on −reach … reach, by convolution of the exact laws; the weights are
    whole numbers.
    """
    law = np.array([1.0])
    for item, weight in terms:
        pmf = np.asarray(item.pmf(np.arange(-REACH, REACH + 1)))
        spread = np.zeros(2 * REACH * weight + 1)
        spread[::weight] = pmf
        law = np.convolve(law, spread)
    return law


def outside(law: np.ndarray, limit: F) -> float:
    middle = len(law) // 2
    return float(law[np.abs(np.arange(len(law)) - middle) > limit].sum())


CASES = [
    [(Geometric(scale=4), 1), (Geometric(scale=4), 1)],
    [(Geometric(scale=4), 1), (Geometric(scale=9), 2)],
    [(Geometric(scale=3), 2), (RoundedNormal(sigma=8), 1)],
    [(RoundedNormal(sigma=5), 1)] * 4,
    [(Geometric(scale=2), 1)] * 8,
    [(Geometric(scale=F(1, 2)), 3), (RoundedNormal(sigma=F(1, 3)), 2)],
]


def grouped(case: list[tuple[Any, int]]) -> tuple[Any, ...]:
    return tuple((law, F(weight), 1) for law, weight in case)


@pytest.mark.parametrize("missing", [F(1, 20), F(1, 2), F(1, 1000), F(1, 10**6)])
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_few(case: list[tuple[Any, int]], missing: F) -> None:
    result = sum_bound(grouped(case), missing)
    law = exact(case)
    assert outside(law, result) <= missing
    least = next(k for k in range(10**6) if outside(law, F(k)) <= missing)
    assert result <= least * F(103, 100) + 2, "loose"


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_smaller_bound_would_be_seen(case: list[tuple[Any, int]]) -> None:
    assert outside(exact(case), sum_bound(grouped(case), F(1, 20)) * F(3, 4)) > F(1, 20)


def test_what_is_repeated_may_be_counted() -> None:
    law = Geometric(scale=7)
    assert sum_bound(((law, F(2), 3),), F(1, 20)) == pytest.approx(
        float(sum_bound(((law, F(2), 1),) * 3, F(1, 20))), rel=1e-3
    )


def test_one_draw_is_its_own_half_width() -> None:
    law = Geometric(scale=50)
    assert sum_bound(((law, F(3, 7), 1),), F(1, 20)) == F(3, 7) * law.half_width(F(19, 20))
    assert sum_bound((), F(1, 20)) == sum_bound(((law, F(1), 0),), F(1, 20)) == 0


@pytest.mark.parametrize("law", [Geometric(scale=30), RoundedNormal(sigma=40)])
def test_many(law: Any) -> None:
    count = 500
    result = float(sum_bound(((law, F(1), count),), F(1, 20)))
    spread = math.sqrt(count * law.variance)
    assert 1.95 * spread < result < 2.8 * spread, "the normal law has 1.96; Chernoff's bound 2.72"


def test_hardly_any_chance_left() -> None:
    """Where doubles do not reach, different laws are bounded one by one; equal ones by Chernoff's
    bound if it is better.
    """
    law, second, missing = Geometric(scale=5), Geometric(scale=6), F(1, 10**12)
    each = [2 * item.half_width(1 - missing / 2) for item in (law, second)]
    assert sum_bound(((law, F(1), 1), (second, F(1), 1)), missing) == sum(each) // 2
    assert sum_bound(((law, F(1), 2),), missing) <= each[0]


def test_the_margin_is_far_above_the_errors_of_the_convolution() -> None:
    """The tails of the laws in doubles, against the exact ones; then the convolution of many of
    them, whose total is known.
    """
    z = np.arange(1.0, 400.0)
    for law in (
        Geometric(scale=F(1, 2)),
        Geometric(scale=30),
        RoundedNormal(sigma=F(1, 3)),
        RoundedNormal(sigma=30),
    ):
        tails = law.rough_tails(z)
        assert np.abs(tails - law.tail(z.astype(np.int64))).max() < weighted_sums.MARGIN / 2**10
        rounded = weighted_sums._law_rounded_up(law, F(50), F(50), 40_000)
        power = np.fft.irfft(np.fft.rfft(rounded, 1 << 21) ** weighted_sums.FEW, 1 << 21)
        assert abs(power.sum() - rounded.sum() ** weighted_sums.FEW) < weighted_sums.MARGIN / 2**8
        assert power.min() > -weighted_sums.MARGIN / 2**20


def test_rounding_up_never_lowers_the_law() -> None:
    law, weight = Geometric(scale=3), F(7, 3)
    result = weighted_sums._law_rounded_up(law, weight, weight, 100)
    for k in (-20, -1, 0, 1, 2, 7, 20):
        exactly = float(law.cdf(math.floor(k / weight)))
        assert float(result[: k + 101].sum()) <= exactly + 1e-15


@pytest.mark.parametrize("missing", [F(1, 20), F(1, 1000)])
@pytest.mark.parametrize("law", [Geometric(scale=4), RoundedNormal(sigma=6)], ids=repr)
def test_weights_between_two_ends(law: Any, missing: F) -> None:
    """Whichever weights are chosen between their ends, the bound holds against the exact law; it is
    little more than that of the largest weights.
    """
    ends = [(1, 3), (0, 2), (2, 2)]
    bound = bound_between([(law, F(least), F(most), 1) for least, most in ends], missing)
    for weights in itertools.product(*(range(least, most + 1) for least, most in ends)):
        parts = [(law, weight) for weight in weights if weight]
        assert outside(exact(parts), bound) <= missing, weights
    largest = [(law, F(most), 1) for _, most in ends]
    assert bound <= sum_bound(tuple(largest), missing) * F(21, 20)


def test_a_weight_that_may_be_zero_and_no_weight() -> None:
    law = Geometric(scale=9)
    maybe = bound_between([(law, F(0), F(2), 1)], F(1, 20))
    assert maybe == 2 * law.half_width(F(19, 20))
    assert bound_between([(law, F(0), F(0), 1)], F(1, 20)) == 0


def test_a_sum_of_sums_is_a_sum() -> None:
    """Equal draws are counted together, signs are of no importance, and a sum inside a sum is taken
    apart.
    """
    law, second = Geometric(scale=4), RoundedNormal(sigma=8)
    inner = SumLaw.of([(law, F(2)), (law, F(-2)), (second, F(1)), (second, F(0))])
    assert inner.terms == ((law, F(2), 2), (second, F(1), 1))
    assert inner.variance == pytest.approx(8 * law.variance + second.variance)
    missing = F(1, 20)
    outer = sum_bound(((inner, F(3), 1), (law, F(1), 1)), missing)
    apart = sum_bound(((law, F(6), 2), (second, F(3), 1), (law, F(1), 1)), missing)
    assert outer == apart
    assert inner.half_width(1 - missing) == math.ceil(sum_bound(inner.terms, missing))
    assert outside(exact([(law, 2), (law, 2), (second, 1)]), F(inner.half_width(1 - missing))) <= (
        missing
    )
