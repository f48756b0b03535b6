"""Permute and flip: its law, its promise without a discount, exact draws, and its regret beside the
exponential mechanism's.
"""

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

from . import choosing

pytestmark = pytest.mark.usefixtures("precise")


def test_the_interface() -> None:
    m = mech.PermuteAndFlip(sensitivity=1, epsilon=1)
    assert m.choose([3, 1, 0]) in (0, 1, 2)
    assert m.promises == (sf.Pure(1),)


def test_the_discount_of_the_exponential_mechanism_is_not_its_own() -> None:
    """B13: scores (0, 0) beside (1, −1) at α = 2 lose 0.51, twice what ε²/8 would allow;
    ε·tanh(ε/2) holds, as for everything ε-DP.
    """
    m = mech.PermuteAndFlip(sensitivity=1, epsilon=1)
    p, q = (choosing.permute_and_flip(s, m.rate) for s in ((0, 0), (1, -1)))
    truth = choosing.renyi(p, q, Fraction(2))
    assert truth > arb("0.5") > ball(2 * Fraction(1, 8))
    rho = m.to(sf.ZCDP).rho
    assert float(rho) == pytest.approx(math.tanh(0.5))
    assert not truth > ball(2 * rho)
    exponential = mech.Exponential(sensitivity=1, epsilon=1)
    assert exponential.to(sf.ZCDP).rho == Fraction(1, 8) < rho


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_the_zcdp_that_follows_holds(epsilon: Fraction) -> None:
    m = mech.PermuteAndFlip(sensitivity=1, epsilon=epsilon)
    rho = m.to(sf.ZCDP).rho
    laws = {}
    for pair in choosing.pairs(choosing.BASES, choosing.ANY_WAY):
        for scores in pair:
            if scores not in laws:
                laws[scores] = choosing.permute_and_flip(scores, m.rate)
        p, q = (laws[scores] for scores in pair)
        for order in choosing.ORDERS[::3]:
            assert not choosing.renyi(p, q, order) > ball(order * rho)


@given(
    scores=st.lists(st.integers(-12, 12), min_size=1, max_size=5),
    epsilon=st.fractions(Fraction(1, 10), 5, max_denominator=20),
)
def test_never_worse_than_the_exponential_mechanism(scores: list[int], epsilon: Fraction) -> None:
    """The expected regret; and report-noisy-max with exponential noise is the same law."""
    regrets = [max(scores) - s for s in scores]
    ours = mech.PermuteAndFlip(sensitivity=1, epsilon=epsilon).probabilities(scores) @ regrets
    theirs = mech.Exponential(sensitivity=1, epsilon=epsilon).probabilities(scores) @ regrets
    assert ours <= theirs * (1 + 1e-12)


def test_it_is_noisy_max_with_exponential_noise() -> None:
    """P(i) = ∫ rate·e^(−rate·x) Π_{j≠i} P(E_j < x + s_i − s_j) dx, integrated by the trapezoid rule
    to 1e-7.
    """
    scores, rate = np.array([3, 1, 0]), 0.5
    x = np.linspace(0, 80, 1_600_001)
    density = rate * np.exp(-rate * x)
    law = []
    for i in range(3):
        below_all = np.prod(
            [
                -np.expm1(-rate * np.maximum(x + scores[i] - scores[j], 0))
                for j in range(3)
                if j != i
            ],
            axis=0,
        )
        law.append(np.trapezoid(density * below_all, x))
    np.testing.assert_allclose(
        law, mech.PermuteAndFlip(sensitivity=1, epsilon=1).probabilities(scores), atol=1e-7
    )


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6. The twin is the exponential mechanism at the same rate."""
    m, scores = mech.PermuteAndFlip(sensitivity=1, epsilon=1), [3, 1, 0, 3]
    sample = [m.choose(scores) for _ in range(8000)]
    assert (
        choosing.fit(sample, [float(p.mid()) for p in choosing.permute_and_flip(scores, m.rate)])
        > choosing.FALSE_ALARM
    )
    assert (
        choosing.fit(sample, [float(p.mid()) for p in choosing.exponential(scores, m.rate)]) < 1e-9
    )


@pytest.mark.parametrize("regret", [1490, 10**6, 10**12])
def test_nothing_underflows(regret: int) -> None:
    m = mech.PermuteAndFlip(sensitivity=1, epsilon=1)
    law = m.probabilities([0, -regret])
    assert law[0] == 1
    assert m.choose([0, -regret, -regret]) == 0
