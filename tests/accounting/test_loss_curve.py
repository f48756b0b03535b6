"""Which way a curve is computed, and that both ends of closed forms are proved."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.loss import loss_curve
from sfumato.accounting.loss.loss_pairs import DominatingPair, GaussianPair
from sfumato.accounting.loss.pairs_finite import ResponsePair
from sfumato.accounting.loss.pairs_sampled import SampledPair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.exact.balls import ball, normal_cdf, precision


def test_closed_forms_need_no_sweep() -> None:
    assert loss_curve._swept(sf.compose([(sf.GDP("0.1"), 20)]).parts) is None
    assert loss_curve._swept(sf.compose([(sf.Pure("0.1"), 20)]).parts) is None


def normal(mu: F, epsilon: F) -> arb:
    m, e = ball(mu), ball(epsilon)
    return normal_cdf(m / 2 - e / m) - e.exp() * normal_cdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", [F(1, 1000), F(1), F(10), F(40)])
@pytest.mark.parametrize(
    "delta", [F(99999, 10**5), 1 - F(1, 10**12), F(1, 2), F(1, 10**6), F(1, 10**300)], ids=float
)
def test_both_bounds_of_normal_noise(mu: F, delta: F) -> None:
    """Where the curve is flat, a fixed number of units in the last place is no margin: at μ = 10
    and δ = 0.99999 the lower bound was above the truth.
    """
    loss = sf.compose([sf.GDP(mu)])
    low, high = loss.epsilon_lower(delta), loss.epsilon(delta)
    with precision(4096):
        assert low == 0 or normal(mu, F(low)) > ball(delta)
        assert normal(mu, F(high)) <= ball(delta)
    assert high - low <= 1e-4 * high, "always right would be easy if bounds were wide"
    for epsilon in (F(0), F(1, 3), F(5)):
        with precision(4096):
            assert (
                ball(F(loss.delta_lower(epsilon)))
                <= normal(mu, epsilon)
                <= ball(F(loss.delta(epsilon)))
            )


def test_just_below_the_largest_delta() -> None:
    """δ(0) of μ = 1, one double less: ε is some 10⁻¹⁶, and the lower bound was above it."""
    loss = sf.compose([sf.GDP(1)])
    delta = F(math.nextafter(loss.delta(0), 0))
    while F(loss.delta_lower(0)) <= delta:
        delta = F(math.nextafter(float(delta), 0))
    low = loss.epsilon_lower(delta)
    with precision(512):
        assert low == 0 or normal(F(1), F(low)) > ball(delta)
        assert normal(F(1), F(loss.epsilon(delta))) <= ball(delta)


@pytest.mark.parametrize(
    "pair",
    [
        SampledPair(GaussianPair(F(100)), F(9, 10)),
        ResponsePair(F(5), F(1, 10)),
        ResponsePair(F(800)),
    ],
    ids=str,
)
def test_both_bounds_of_other_closed_forms(pair: DominatingPair) -> None:
    """Each bound on ε, put into the curve as a ball."""
    parts = ((pair, 1),)
    loss = Loss(parts, relation="add-remove")
    closed = loss_curve._closed(parts)
    assert closed is not None
    for delta in (F(89, 100), F(1, 2), F(1, 10) + F(1, 10**15), F(1, 10**6) + pair.lost[0]):
        low, high = loss.epsilon_lower(delta), loss.epsilon(delta)
        with precision(4096):
            assert loss_curve._curve(closed, F(low)) > ball(delta)
            assert loss_curve._curve(closed, F(high)) <= ball(delta)
        assert high - low <= 1e-9 * high
