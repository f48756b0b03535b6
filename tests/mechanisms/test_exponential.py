"""The exponential mechanism: its law with any prior, its zCDP discount, exact draws, and nothing
that underflows.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

pytestmark = pytest.mark.usefixtures("precise")


def test_the_interface_as_written() -> None:
    e = mech.Exponential(sensitivity=1, epsilon=1)
    assert e.choose([3, 1, 0]) in (0, 1, 2)
    assert mech.Exponential(sensitivity=1, epsilon=1, candidates=["a", "b", "c"]).choose(
        [3, 1, 0]
    ) in ("a", "b", "c")
    assert e.promises == (sf.Pure(1), sf.ZCDP(Fraction(1, 8)))
    assert e.probabilities([3, 1, 0]) == pytest.approx(
        np.exp([1.5, 0.5, 0]) / np.exp([1.5, 0.5, 0]).sum(), rel=1e-15
    )


@pytest.mark.parametrize("prior", [None, [1, 2, 3], ["1/10", "0.2", 1e-9], [10**20, 1, 10**-20]])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_promises_with_any_prior(
    prior: list[float] | None, monotone: bool, epsilon: Fraction
) -> None:
    """Pure ε and zCDP ε²/8, between all neighbouring scores, in both directions and at all
    orders.
    """
    m = mech.Exponential(sensitivity=1, epsilon=epsilon, prior=prior, monotone=monotone)
    laws = {}
    for pair in choosing.pairs(choosing.BASES, choosing.ONE_WAY if monotone else choosing.ANY_WAY):
        for scores in pair:
            if scores not in laws:
                laws[scores] = choosing.exponential(scores, m.rate, m.prior)
        p, q = (laws[scores] for scores in pair)
        assert not choosing.loss(p, q) > ball(epsilon)
        for order in choosing.ORDERS[::3]:
            rho = ball(order * epsilon**2 / 8)
            assert not choosing.renyi(p, q, order) > rho
            assert not choosing.renyi(q, p, order) > rho
    assert all(
        choosing.agree(m.probabilities(scores), law) for scores, law in list(laws.items())[::9]
    )


def test_the_discount_is_nearly_attained() -> None:
    """Two candidates, one of them unlikely by itself, moved apart as far as neighbours may: 99 % of
    ε²/8 at small ε, so 2 % less would be wrong.
    """
    epsilon = Fraction(1, 10)
    m = mech.Exponential(sensitivity=1, epsilon=epsilon)
    p, q = (choosing.exponential(s, m.rate) for s in ([1, -1], [0, 0]))
    assert choosing.renyi(p, q, choosing.ORDERS[0]) > ball(Fraction(98, 100) * epsilon**2 / 8)


def test_the_pure_promise_is_attained_with_many_candidates() -> None:
    m = mech.Exponential(sensitivity=1, epsilon=1)
    p, q = (choosing.exponential(s, m.rate) for s in ([1] + [-1] * 2000, [0] * 2001))
    assert choosing.loss(p, q) > ball(Fraction(999, 1000))


def test_two_candidates_without_a_prior_lose_less() -> None:
    """ε/2 where only one of two scores moves: why an audit of two candidates proves half of the
    claim.
    """
    p, q = (choosing.exponential(s, Fraction(1, 2)) for s in ([30, 0], [30, 1]))
    assert abs(choosing.loss(p, q) - ball(Fraction(1, 2))) < 1e-6


@pytest.mark.parametrize(
    "scores",
    [[0] * 1491 + [1], [0] * 1492 + [1], [-(10**6), 0], [0, -1490], list(range(0, -3000, -1))],
)
def test_nothing_underflows(scores: list[int]) -> None:
    """A6: weights e^(ε·score/2) are 0 in doubles below a score of −1490; differences of scores are
    what counts.
    """
    m = mech.Exponential(sensitivity=1, epsilon=1)
    shifted = [s - 10**7 for s in scores]
    for given_scores in (scores, shifted):
        law = m.probabilities(given_scores)
        assert law.sum() == pytest.approx(1)
        assert np.isfinite(law).all()
        assert 0 <= m.choose(given_scores) < len(scores)


def test_a_chance_of_ten_to_the_minus_400_is_not_zero() -> None:
    """It is smaller than any double, and drawn when the bits say so: a tape of ones ends in the
    last candidate.
    """
    from sfumato.testing import TapeBits

    m = mech.Exponential(sensitivity=1, epsilon=2)
    assert m.probabilities([921, 0])[1] == 0.0
    assert m.choose([921, 0], bits=TapeBits([2**64 - 1] * 40)) == 1
    assert m.choose([921, 0]) == 0


@pytest.mark.parametrize("prior", [None, [1, 5, 1, 3]])
def test_draws_fit_the_law(prior: list[int] | None) -> None:
    """False alarms: 1e-6 each, 4 in all. The twin is the law at a rate one tenth above."""
    m = mech.Exponential(sensitivity=1, epsilon=1, prior=prior)
    scores = [3, 1, 0, 2]
    truth = [float(p.mid()) for p in choosing.exponential(scores, m.rate, prior)]
    twin = [float(p.mid()) for p in choosing.exponential(scores, m.rate * Fraction(11, 10), prior)]
    many = m.law(scores).sample(200_000)
    assert choosing.fit(many, truth) > choosing.FALSE_ALARM
    assert choosing.fit(many, twin) < 1e-9
    assert choosing.fit([m.choose(scores) for _ in range(5000)], truth) > choosing.FALSE_ALARM


@given(
    scores=st.lists(st.integers(-50, 50), min_size=1, max_size=8),
    shift=st.integers(-(10**12), 10**12),
)
def test_only_differences_of_scores_matter(scores: list[int], shift: int) -> None:
    m = mech.Exponential(sensitivity=1, epsilon=1)
    np.testing.assert_array_equal(
        m.probabilities(scores), m.probabilities([s + shift for s in scores])
    )


def test_laplace_as_an_exponential_mechanism_costs_a_factor_two() -> None:
    """S-062, E-40: the score −|f − h| on all integers gives the two-sided geometric law at scale
    2Δ/ε. Its loss is ε/2; the other half pays for a normaliser that here does not move.
    """
    m, reach = mech.Exponential(sensitivity=1, epsilon=1), 200
    laplace = mech.Laplace(sensitivity=1, epsilon="1/2")
    assert 1 / m.rate == laplace.scale == 2 * mech.Laplace(sensitivity=1, epsilon=1).scale
    assert laplace.promise == sf.Pure(Fraction(1, 2))
    probabilities = m.probabilities([-abs(h) for h in range(-reach, reach + 1)])
    np.testing.assert_allclose(
        probabilities, laplace.probability(np.arange(-reach, reach + 1)), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("scores", "t"), [([10, 8, 5, 0], 3), ([4, 4, 0, -9], 5), ([0] * 10 + [9], 9)]
)
def test_the_utility_theorem(scores: list[int], t: int) -> None:
    """S-095: P(regret ≥ t) ≤ n·e^(−εt/(2Δ)), also divided by the number of best candidates."""
    law = mech.Exponential(sensitivity=1, epsilon=1).probabilities(scores)
    beyond = sum(p for p, s in zip(law, scores, strict=True) if max(scores) - s >= t)
    bound = len(scores) * math.exp(-t / 2)
    assert beyond <= bound / scores.count(max(scores)) <= bound


@pytest.mark.parametrize(
    ("given_prior", "candidates", "code"),
    [
        ([1, 0], None, "number.not-positive"),
        ([1, -1], None, "number.not-positive"),
        ([1, math.nan], None, "number.not-finite"),
        ([1, 1, 1], ["a", "b"], "selection.prior"),
    ],
)
def test_priors_that_are_refused(
    given_prior: list[float], candidates: list[str] | None, code: str, no_entropy: None
) -> None:
    refusal(
        lambda: mech.Exponential(
            sensitivity=1, epsilon=1, prior=given_prior, candidates=candidates
        ),
        code,
    )


def test_a_prior_needs_a_score_for_each_weight() -> None:
    m = mech.Exponential(sensitivity=1, epsilon=1, prior=[1, 2])
    refused = refusal(lambda: m.choose([987654321, 1, 2], bits=Untouchable()), "selection.prior")
    assert "987654321" not in str(refused)


def test_perturb_is_the_verb_of_all_mechanisms() -> None:
    """A choice is drawn by `choose`, and by `perturb` like every release."""
    scores, bits = [1, 5, 2], SeededBits
    for kind in (mech.Exponential, mech.PermuteAndFlip, mech.NoisyMax):
        m = kind(sensitivity=1, epsilon=1)
        assert m.perturb(scores, bits=bits(7)) == m.choose(scores, bits=bits(7))
    top = mech.TopK(sensitivity=1, epsilon=1, k=2)
    assert top.perturb(scores, bits=bits(7)) == top.choose(scores, bits=bits(7))
    others = {mech.AboveThreshold, mech.Combined, mech.Subsampled}  # sessions, and accounts
    assert {m for m in mech.MECHANISMS if not hasattr(m, "perturb")} == others
