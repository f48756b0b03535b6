"""Report noisy max: the first among equals, thresholds that move by whole steps, exact draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.noise.geometric import Geometric

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

pytestmark = pytest.mark.usefixtures("precise")


def test_the_interface() -> None:
    m = mech.NoisyMax(sensitivity=1, epsilon=1, candidates=["a", "b"])
    assert m.choose([10**6, 0]) == "a"
    assert m.promises == (sf.Pure(1),)
    assert m == mech.NoisyMax(sensitivity=1, epsilon="1", candidates=["a", "b"])


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(50)])
def test_a_tail_falls_by_at_most_q_a_step(scale: Fraction) -> None:
    """The step of the proof: P(Z ≥ t + 1) ≥ q·P(Z ≥ t) at every integer, with equality from 1
    on.
    """
    q = (-ball(1 / scale)).exp()

    def tail(t: int) -> arb:
        return q**t / (1 + q) if t >= 1 else 1 - q ** (1 - t) / (1 + q)

    for t in range(-60, 60):
        assert not tail(t + 1) < q * tail(t)
        assert float(tail(t).mid()) == pytest.approx(Geometric(scale=scale).tail(t), rel=1e-13)


def test_ties_go_to_the_first() -> None:
    """On integers ties have a probability of their own: equal scores do not have equal chances, and
    the promise counts that in.
    """
    law = mech.NoisyMax(sensitivity=1, epsilon=2).probabilities([0, 0])
    q = math.exp(-1)
    tie = ((1 - q) / (1 + q)) ** 2 * (1 + q * q) / (1 - q * q)
    np.testing.assert_allclose(law, [(1 + tie) / 2, (1 - tie) / 2], rtol=1e-14)


def test_the_promise_is_attained() -> None:
    """One candidate far behind two that lead, moved towards each other: e^ε to a hundredth."""
    m = mech.NoisyMax(sensitivity=1, epsilon=4)
    p, q = (choosing.noisy_max(s, m.rate) for s in ([0, 0, -9], [-1, -1, -8]))
    assert ball(4) > choosing.loss(p, q) > ball(Fraction(39, 10))


@given(
    scores=st.lists(st.integers(-30, 30), min_size=1, max_size=5),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3)]),
)
def test_the_closed_form(scores: list[int], epsilon: Fraction) -> None:
    """Geometric series between the scores, against the sum over all noise."""
    m = mech.NoisyMax(sensitivity=1, epsilon=epsilon)
    probabilities = m.probabilities(scores)
    with_sums = choosing.noisy_max(scores, m.rate)
    assert choosing.agree(probabilities, with_sums, 2.0**-50)


@pytest.mark.parametrize("scale", [10**6, 10**12])
def test_wide_laws_are_exact_too(scale: int) -> None:
    """As the noise grows fine beside its scale, a lead of r scales is lost with probability
    e^(−r)·(2 + r)/4, as for real Laplace noise.
    """
    m = mech.NoisyMax(sensitivity=1, epsilon=Fraction(2, scale))
    assert m.probabilities([3 * scale, 0])[1] == pytest.approx(math.exp(-3) * 5 / 4, rel=1e-5)


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6. The twin is permute-and-flip."""
    m, scores = mech.NoisyMax(sensitivity=1, epsilon=1), [3, 1, 3, 0]
    sample = [m.choose(scores) for _ in range(20_000)]
    assert (
        choosing.fit(sample, [float(p.mid()) for p in choosing.noisy_max(scores, m.rate)])
        > choosing.FALSE_ALARM
    )
    assert (
        choosing.fit(sample, [float(p.mid()) for p in choosing.permute_and_flip(scores, m.rate)])
        < 1e-9
    )


def test_a_million_candidates() -> None:
    scores = np.zeros(1_000_000, dtype=np.int64)
    scores[123_456] = 200
    assert (
        mech.NoisyMax(sensitivity=1, epsilon=1).choose(scores) == 123_456
    )  # wrong with probability 10^6·e^(−100)·26 < 10^-35


def test_fractions_need_a_grid() -> None:
    refused = refusal(
        lambda: mech.NoisyMax(sensitivity=1, epsilon=1).choose(
            [Fraction(1234567, 2), 0], bits=Untouchable()
        ),
        "selection.grid",
    )
    assert "1234567" not in str(refused)
    assert (
        mech.NoisyMax(sensitivity=1, epsilon=1, grid="1/2").choose([Fraction(1234567, 2), 0]) == 0
    )


def test_noise_too_wide_is_refused_before_any_score(no_entropy: None) -> None:
    refusal(lambda: mech.NoisyMax(sensitivity=1, epsilon=1e-17), "noise.scale")
