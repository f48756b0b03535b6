"""The tail theorems beside the exact laws: always valid on integers once the radius is whole, how
loose they are, and where the printed forms fail.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from sfumato import mechanisms as mech
from sfumato.mechanisms.shared import error_formulas
from sfumato.noise.choice import Choice
from sfumato.noise.continuous import ContinuousLaplace, Normal

from ..refusing import refusal

BETAS = ("1/2", "1/20", "1/1000")


@pytest.mark.parametrize("scale", ["1/3", 1, "7/2", 50])
@pytest.mark.parametrize("values", [1, 10, 1000])
@pytest.mark.parametrize("beta", BETAS)
def test_laplace_radius(scale: Any, values: int, beta: str) -> None:
    """Valid once whole; beyond the exact error by a step and, for β ≤ 1/20, at most 3 % of it:
    ln(k/β) against ln(k/−ln(1 − β)).
    """
    m = mech.Laplace(sensitivity=1, scale=scale)
    radius = math.ceil(error_formulas.laplace_radius(scale=scale, beta=beta, values=values))
    exact = m.error(1 - Fraction(beta), values=values)
    assert exact <= radius
    if Fraction(beta) <= Fraction(1, 20):
        assert radius <= 1.03 * exact + 2


def test_laplace_radius_needs_to_be_whole() -> None:
    """Just below 1 the integer law exceeds the radius with probability 0.538, and not
    e^(−0.9999).
    """
    m = mech.Laplace(sensitivity=1, scale=1)
    assert 1 - m.probability(0) == pytest.approx(0.5379, abs=1e-4)
    assert 1 - m.probability(0) > error_formulas.laplace_tail("0.9999")


@pytest.mark.parametrize("sigma", ["1/3", 1, "7/2", 50])
@pytest.mark.parametrize("values", [1, 10, 1000])
@pytest.mark.parametrize("beta", BETAS)
def test_gaussian_radius(sigma: Any, values: int, beta: str) -> None:
    m = mech.Gaussian(sensitivity=1, sigma=sigma)
    radius = math.ceil(error_formulas.gaussian_radius(sigma=sigma, beta=beta, values=values))
    exact = m.error(1 - Fraction(beta), values=values)
    assert exact <= radius
    if Fraction(beta) <= Fraction(1, 20):
        assert radius <= 1.25 * exact + 2


@pytest.mark.parametrize(
    "make",
    [lambda: mech.Laplace(sensitivity=1, scale=3), lambda: mech.Gaussian(sensitivity=1, sigma=3)],
)
@pytest.mark.parametrize("values", [1, 2, 7, 500])
@pytest.mark.parametrize("confidence", ["1/2", "0.95", "0.999"])
def test_the_simultaneous_error_is_the_exact_one(make: Any, values: int, confidence: str) -> None:
    """P(|Z| ≤ r)^k ≥ confidence at r and not at r − 1, from the law's own tail; `for_each` comes to
    the same.
    """
    m = make()
    r = m.error(confidence, values=values)
    inside = lambda r: (1 - 2 * m.law.tail(r + 1)) ** values  # noqa: E731  # a formula in one line
    assert inside(r) >= float(Fraction(confidence)) - 1e-12
    assert r == 0 or inside(r - 1) < float(Fraction(confidence))
    assert m.error(mech.for_each(confidence, values)) == r


def test_one_value_is_the_default() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=0.5)
    assert (
        [m.error(c, values=1) for c in (0.5, 0.9, 0.95, 0.99)]
        == [m.error(c) for c in (0.5, 0.9, 0.95, 0.99)]
        == [1, 5, 6, 9]
    )
    assert m.error(0, values=5) == 0
    grid = mech.Laplace(sensitivity=1, scale=3, grid="1/4", size=4)
    assert (
        grid.error(0.95, values=4)
        == (mech.Laplace(sensitivity=1, scale=12).error(0.95, values=4) + 0.5) / 4
    )
    refusal(lambda: m.error(values=0), "mechanism.size")


def test_both_directions() -> None:
    epsilon = error_formulas.laplace_epsilon(sensitivity=2, radius=10, beta="1/20", values=10)
    assert error_formulas.laplace_radius(
        scale=2 / Fraction(epsilon), beta="1/20", values=10
    ) == pytest.approx(10, rel=1e-12)
    m = mech.Laplace(sensitivity=2, error=10, confidence=mech.for_each(0.95, 10))
    assert m.error(0.95, values=10) == 10
    assert m.promise.epsilon() < epsilon + 0.01, "the exact law needs no more than the theorem"


@pytest.mark.parametrize("times", ["1/2", 1, 2, 3, 10])
def test_chebyshev(times: Any) -> None:
    """Valid for the exact laws; at three standard deviations it allows 1/9 where Laplace needs
    0.0144.
    """
    for m in (mech.Laplace(sensitivity=1, scale=5), mech.Gaussian(sensitivity=1, sigma=5)):
        radius = error_formulas.chebyshev_radius(variance=Fraction(m.variance), times=times)
        assert (
            2 * m.law.tail(math.ceil(radius)) <= 1 / Fraction(str(times)) ** 2
            if isinstance(times, str)
            else 2 * m.law.tail(math.ceil(radius)) <= 1 / times**2
        )
    law = ContinuousLaplace(scale=5)
    assert 2 * law.tail(
        error_formulas.chebyshev_radius(variance=law.variance, times=3)
    ) == pytest.approx(math.exp(-3 * math.sqrt(2)), rel=1e-9)


def test_E_12_the_printed_inequality_is_true_for_another_reason() -> None:
    """With the variance 1/(nε)² it does not follow; but e^(−k) ≤ 1/k² for every k, with 0.5413 at
    the worst.
    """
    worst = max(
        k * k * error_formulas.laplace_tail(k) for k in (Fraction(i, 100) for i in range(1, 1000))
    )
    assert worst == pytest.approx(0.5413411329, rel=1e-9)
    right, printed = (
        error_formulas.laplace_mean_variance(count=100, epsilon="1/2"),
        Fraction(1, 2500),
    )
    assert right == 2 * printed
    assert right == ContinuousLaplace(rate=50).variance != printed


@pytest.mark.parametrize("scores", [[10, 8, 5, 0], [3, 3, 1], [0, 0, 0], [100, 0]], ids=str)
@pytest.mark.parametrize("epsilon", ["1/2", 1, 4])
def test_exponential_tail(scores: list[int], epsilon: Any) -> None:
    """Against the exact law, at every regret; the number of best candidates may divide."""
    law, best = Choice(scores, rate=Fraction(epsilon) / 2), scores.count(max(scores))
    for regret in (0, 1, 2, 3, 5, 8, 10):
        exact = sum(law.pmf(i) for i, s in enumerate(scores) if s <= max(scores) - regret)
        bound = error_formulas.exponential_tail(
            candidates=len(scores), epsilon=epsilon, sensitivity=1, regret=regret, best=best
        )
        assert exact <= bound + 1e-15
        assert bound <= error_formulas.exponential_tail(
            candidates=len(scores), epsilon=epsilon, sensitivity=1, regret=regret
        )
    radius = error_formulas.exponential_radius(
        candidates=len(scores), epsilon=epsilon, sensitivity=1, beta="1/20", best=best
    )
    assert error_formulas.exponential_tail(
        candidates=len(scores), epsilon=epsilon, sensitivity=1, regret=Fraction(radius), best=best
    ) == pytest.approx(0.05, rel=1e-9)


def test_hoeffding_beside_the_binomial() -> None:
    """1000 fair coins: valid, and twice the exact chance or less at β = 0.05."""
    n, beta = 1000, 0.05
    radius = error_formulas.hoeffding_radius(count=n, beta=str(beta))
    exact = sum(math.comb(n, c) for c in range(n + 1) if abs(c / n - 0.5) >= radius) / 2**n
    assert exact <= beta
    assert exact > beta / 10
    normal = -Normal(sigma=Fraction(1, 2)).quantile(str(beta / 2)) / math.sqrt(n)
    assert radius / normal == pytest.approx(1.386, abs=1e-3), (
        "38.6 % wider than the normal interval at p = 1/2"
    )


def test_squared_error_is_an_upper_bound_on_integers() -> None:
    assert error_formulas.squared_error(sensitivity=2, epsilon="1/2", values=3) == 96
    m = mech.Laplace(sensitivity=2, epsilon="1/2")
    assert 96 - 3 / 6 <= 3 * m.variance <= 96


@pytest.mark.parametrize("values", [0, -1, 1.5, True, "many"])
def test_counts_are_whole(values: Any) -> None:
    refusal(
        lambda: error_formulas.laplace_radius(scale=1, beta="1/20", values=values), "accuracy.count"
    )
    refusal(
        lambda: error_formulas.exponential_radius(
            candidates=2, epsilon=1, sensitivity=1, beta="1/20", best=3
        ),
        "accuracy.count",
    )
