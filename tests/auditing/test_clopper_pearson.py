"""Limits of a probability: against exact binomial tails in rationals and in ball arithmetic, and
their coverage by arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.auditing.clopper_pearson import expected_limits, lower_limit, upper_limit
from sfumato.errors import Refused
from sfumato.exact.balls import ball, precision
from sfumato.mechanisms.shared.response_estimate import limit as proved_limit


def at_least(k: int, n: int, p: Fraction) -> Fraction:
    """P(Bin(n, p) ≥ k), exactly."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1)), Fraction(0))


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 5e-7])
@pytest.mark.parametrize("n", [1, 7, 25])
def test_the_tails_are_below_alpha_and_hardly(n: int, alpha: float) -> None:
    for k in range(n + 1):
        low, high = Fraction(lower_limit(k, n, alpha)), Fraction(upper_limit(k, n, alpha))
        assert at_least(k, n, low) <= alpha if k else low == 0
        assert 1 - at_least(k + 1, n, high) <= alpha if k < n else high == 1
        if k:
            assert at_least(k, n, low * Fraction(10**6 + 1, 10**6)) > Fraction(alpha) * Fraction(
                999_999, 10**6
            )  # not given away
        if k < n:
            assert 1 - at_least(k + 1, n, high * Fraction(10**6 - 1, 10**6)) > Fraction(
                alpha
            ) * Fraction(999_999, 10**6)


@pytest.mark.parametrize("n", [10**3, 10**5, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [0.0001, 0.3, 0.9])
def test_large_numbers_against_ball_arithmetic(n: int, share: float) -> None:
    k, alpha = max(1, int(share * n)), 2.5e-7
    low, high = lower_limit(k, n, alpha), upper_limit(k, n, alpha)
    with precision(400):
        below = ball(Fraction(low)).beta_lower(
            arb(k), arb(n - k + 1), regularized=True
        )  # P(Bin(n, low) ≥ k)
        above = 1 - ball(Fraction(high)).beta_lower(
            arb(k + 1), arb(n - k), regularized=True
        )  # P(Bin(n, high) ≤ k)
        assert below < ball(Fraction(alpha))
        assert above < ball(Fraction(alpha))
        assert below > ball(Fraction(alpha)) * ball(Fraction(9_999, 10**4))
        assert above > ball(Fraction(alpha)) * ball(Fraction(9_999, 10**4))


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (3, 10), (999, 1000), (50_000, 100_000), (3, 10**6)]
)
def test_they_are_those_of_estimates(k: int, n: int) -> None:
    """The same interval, proved in ball arithmetic: docs/project/decisions says why
    there are two.
    """
    missing = Fraction(1, 10**6)
    assert lower_limit(k, n, float(missing)) == pytest.approx(
        float(proved_limit(k, n, missing, upper=False)), rel=1e-7
    )
    assert upper_limit(k, n, float(missing)) == pytest.approx(
        float(proved_limit(k, n, missing, upper=True)), rel=1e-7, abs=1e-9
    )


@pytest.mark.parametrize("n", [100, 10**4, pytest.param(10**6, marks=pytest.mark.slow)])
def test_the_incomplete_beta_function_errs_far_less_than_the_margin(n: int) -> None:
    from scipy.special import betainc, betaincc

    for share in (0.002, 0.5, 0.95):
        for sigmas in (-6, 0, 6):
            k = max(1, int(share * n))
            p = min(
                max(share + sigmas * math.sqrt(share * (1 - share) / n), share / 4),
                1 - (1 - share) / 4,
            )
            with precision(600):
                first = ball(Fraction(p)).beta_lower(arb(k), arb(n - k + 1), regularized=True)
                second = 1 - first
            for result, true in (
                (betainc(k, n - k + 1, p), first),
                (betaincc(k, n - k + 1, p), second),
            ):
                assert abs(float(result) / float(true) - 1) < 1e-10


def test_coverage_by_arithmetic() -> None:
    n, alpha = 30, 0.01
    lows = [lower_limit(k, n, alpha) for k in range(n + 1)]
    for p in np.linspace(0.01, 0.99, 50):
        chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        wrong = sum(c for c, low in zip(chances, lows, strict=True) if low > p)
        assert wrong <= alpha
        normal = [
            k / n - 2.326 * math.sqrt(k / n * (1 - k / n) / n) for k in range(n + 1)
        ]  # the textbook interval, at the same level
        if p > 0.9:
            assert (
                sum(c for c, low in zip(chances, normal, strict=True) if low > p) > alpha
            )  # the twin: it covers too rarely


def test_expected_limits_are_the_limits_of_whole_counts() -> None:
    n, alpha = 1000, 1e-6
    low, high = expected_limits(np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.1, 1.0]), n, alpha)
    for i, k in enumerate((0, 100, 1000)):
        assert low[i] == pytest.approx(lower_limit(k, n, alpha), rel=1e-6, abs=1e-12)
        assert high[i] == pytest.approx(upper_limit(k, n, alpha), rel=1e-6)


@pytest.mark.parametrize(
    ("hits", "trials", "alpha"), [(2, 1, 0.1), (-1, 5, 0.1), (0, 0, 0.1), (1, 5, 0.0), (1, 5, 1.0)]
)
def test_refused(hits: int, trials: int, alpha: float) -> None:
    for limit in (lower_limit, upper_limit):
        with pytest.raises(Refused, match=r"audit\.counts"):
            limit(hits, trials, alpha)
