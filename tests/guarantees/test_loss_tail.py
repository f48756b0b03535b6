"""Tails of the privacy loss, against exact laws of the loss."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.exact.balls import ball, evaluate, normal_cdf
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.loss_closed_forms import gaussian_loss
from sfumato.guarantees.loss_tail import epsilon_outside, pure_epsilon, tail

CHANNELS = {
    "three": Channel([["0.5", "0.2", "0.2", "0.1"], ["0.3", "0.3", "0.25", "0.15"]]),
    "rare": Channel([["0.9", "0.099", "0.001"], ["0.95", "0.05", "0"]]),
    "toss twice": Channel.coin_toss().product(Channel.coin_toss()),
    "betray": Channel([["0.01", "0.72", "0.27", "0"], ["0", "0.27", "0.72", "0.01"]]),
}


def phi(x: Fraction) -> float:
    return evaluate(lambda: normal_cdf(ball(x)))


def beyond(channel: Channel, epsilon: float, *, both: bool) -> Fraction:
    """The exact P(L > ε), or P(|L| > ε), the worse of the two inputs."""
    worst = Fraction(0)
    for x, neighbour in ((a, b) for a in channel.inputs for b in channel.inputs if a != b):
        losses = channel.losses(x, neighbour)
        worst = max(
            worst,
            sum(
                (
                    loss.mass
                    for loss in losses
                    if loss.value > epsilon or (both and loss.value < -epsilon)
                ),
                Fraction(0),
            ),
        )
    return worst


@pytest.mark.parametrize("name", CHANNELS)
def test_channels_keep_to_the_bounds(name: str) -> None:
    channel, checked = CHANNELS[name], 0
    for t in ("0", "0.3", "0.6", "1", "2"):
        promise = sf.Approx(t, Fraction(channel.delta(t)))
        for epsilon in ("0.5", "1.05", "1.3", "3"):
            assert beyond(channel, float(epsilon), both=False) <= tail(promise, epsilon)
        for eta in ("0.5", "0.2", "0.05"):
            if promise.parameters["delta"] < Fraction(eta):
                assert beyond(channel, epsilon_outside(promise, eta), both=True) <= Fraction(eta)
                checked += 1
    assert checked


def test_the_tail_is_attained() -> None:
    """No better bound follows from (t, δ): an answer of probability s = δ/(1 − e^(t − ε)) with odds
    just above e^ε.
    """
    t, delta, epsilon = Fraction(1), Fraction(1, 100), Fraction(2)
    bound = tail(sf.Approx(t, delta), epsilon)
    s = Fraction(bound) * Fraction(999_999, 1_000_000)
    q = s * Fraction(999_999, 1_000_000) * Fraction(evaluate(lambda: ball(-epsilon).exp(), "down"))
    channel = Channel([[s, 1 - s], [q, 1 - q]])
    assert channel.delta(t) <= delta + Fraction(1, 10**6)
    assert beyond(channel, 2.0, both=False) == s


def test_a_pure_tail_inside_epsilon_is_attained() -> None:
    """Where P = 1 − e^−1·(1 − Q) and P = e^½·Q: the best ε-DP pair at ½ < ε = 1."""
    assert tail(sf.Pure(1), "0.5") == pytest.approx(
        (1 - math.exp(-1)) / (1 - math.exp(-1.5)), rel=1e-7
    )


def test_outside_in_closed_form() -> None:
    """At its kink the curve of (ε, δ)-DP gives ln((δ + η·e^ε)/(η − δ))."""
    assert epsilon_outside(sf.Approx(1, "1e-6"), "0.01") == pytest.approx(
        math.log((1e-6 + 0.01 * math.e) / (0.01 - 1e-6)), rel=1e-12
    )


def test_E_09_the_tail_at_epsilon_is_not_delta() -> None:
    """A Gaussian with σ = 1 has δ(1) = 0.1269 but P(L > 1) = 0.3085; from δ(1) follows P(L > 2) ≤
    0.2008, of which 0.0668 is attained.
    """
    loss = gaussian_loss(1)
    assert sf.GDP(1).delta(1) == pytest.approx(0.12693673750664394)
    assert loss.tail(1) == pytest.approx(0.3085375387259869)
    assert loss.tail(1) > sf.GDP(1).delta(1)
    assert loss.tail(2) == pytest.approx(0.06680720126885809)
    from_one_point = sf.GDP(1).delta(1) / (1 - math.exp(-1))
    assert from_one_point == pytest.approx(0.2008109619814967)
    assert loss.tail(2) <= tail(sf.GDP(1), 2) <= from_one_point


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)], ids=str
)
def test_a_processing_may_have_a_larger_tail_than_the_gaussian(epsilon: Fraction) -> None:
    """μ-GDP bounds every processing of the Gaussian mechanism. One that only says "above c" has a
    loss beyond ε more often than the Gaussian itself; the bound of the curve is what such
    processings attain, and no more.
    """
    best, c = 0.0, -4.0
    while c < 8.0:
        p, q = phi(Fraction(1) - Fraction(c)), phi(-Fraction(c))
        if p > math.exp(epsilon) * q:
            best = max(best, p)
        c += 1 / 64
    assert best > gaussian_loss(1).tail(epsilon) * 1.2
    assert best <= tail(sf.GDP(1), epsilon) <= best + 0.02


@pytest.mark.parametrize("mu", ["0.1", "1", "3"])
@pytest.mark.parametrize("eta", ["0.1", "1e-2", "1e-6", "1e-12"])
def test_the_gaussian_keeps_to_the_bound(mu: str, eta: str) -> None:
    loss, epsilon = gaussian_loss(1, mu), Fraction(epsilon_outside(sf.GDP(mu), eta))
    assert loss.tail(epsilon) + 1 - loss.tail(-epsilon) <= float(eta)


def test_outside_grows_as_the_event_shrinks() -> None:
    for guarantee in (
        sf.GDP(1),
        sf.ZCDP("0.1"),
        sf.Renyi({2: "0.1", 8: "0.5"}),
        sf.Pure(1) + sf.GDP("0.1"),
    ):
        epsilons = [epsilon_outside(guarantee, eta) for eta in ("0.1", "1e-2", "1e-4", "1e-8")]
        assert epsilons == sorted(epsilons)


def test_pure_holds_for_every_answer() -> None:
    assert epsilon_outside(sf.Pure(1), "1e-9") == 1
    assert epsilon_outside(sf.Approx(1, 0), "1e-9") == 1
    assert epsilon_outside(sf.GDP(0), "1e-9") == 0
    assert tail(sf.Pure(1), 1) == 0
    assert tail(sf.Pure(1), "0.5") <= 1
    assert (pure_epsilon(sf.Pure("1/3")), pure_epsilon(sf.GDP(1)), pure_epsilon(sf.ZCDP(0))) == (
        Fraction(1, 3),
        None,
        0,
    )


@pytest.mark.parametrize(
    "guarantee",
    [sf.Approx(1, "0.01"), sf.ZCDP(1, "0.01"), sf.Approx(1, "0.01") + sf.GDP(1)],
    ids=repr,
)
def test_below_delta_nothing_follows(guarantee: sf.Guarantee) -> None:
    for eta in ("0.01", "1e-3"):
        with pytest.raises(Refused) as caught:
            epsilon_outside(guarantee, eta)
        assert caught.value.code == "guarantee.does-not-follow"
    assert epsilon_outside(guarantee, "0.011") > 1
