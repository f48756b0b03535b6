"""Few answers, counted: against the sums written out, and against the lattice."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.accounting.loss import certificate, finite_sums
from sfumato.accounting.loss.loss_pairs import GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import SampledPair
from sfumato.exact.balls import ball, precision

from .exact_losses import BITS, random_composition


@pytest.mark.parametrize("seed", range(30))
def test_the_curve_and_its_inverse(seed: int) -> None:
    composition = random_composition(seed)
    parts = tuple(
        (pair, count)
        for pair, count in composition.loss.parts
        if not isinstance(pair, GaussianPair)
    )
    if not parts or not finite_sums.few(parts) or composition.mu_squared:
        return
    for e in (Fraction(0), Fraction(1, 3), Fraction(2)):
        low, high = finite_sums.delta_bounds(parts, e)
        with precision(BITS):
            truth = composition.delta(e)
            assert ball(Fraction(low)) <= truth <= ball(Fraction(high))
        assert high - low <= 1e-14 * high
    for d in (Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**15)):
        low, high = finite_sums.epsilon_bounds(parts, d)
        if high < 1e300:
            with precision(BITS):
                assert composition.delta(Fraction(high)) <= ball(d)
                assert low == 0 or composition.delta(Fraction(low)) >= ball(d)
            assert high - low <= 1e-9 * high + 1e-12


def test_ways() -> None:
    assert finite_sums.ways(((ResponsePair(Fraction(1)), 10),)) == 11
    assert finite_sums.ways(((ResponsePair(Fraction(1), categories=3), 10),)) == 66
    assert finite_sums.ways(((GaussianPair(Fraction(1)), 1),)) is None
    assert not finite_sums.few(((ResponsePair(Fraction(1), categories=3), 1000),))


def test_the_lattice_agrees() -> None:
    parts = (
        (FinitePair((Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 2), Fraction(1, 2))), 6),
        (SampledPair(LaplacePair(Fraction(1), 2), Fraction(1, 3)), 3),
    )
    exact = finite_sums.delta_bounds(parts, Fraction(1, 2))
    low, high = certificate.delta_bounds(
        [(pair.law(), count) for pair, count in parts], Fraction(1, 2)
    )
    assert low <= exact[1]
    assert high >= exact[0]
    assert high - low < 0.01 * high


@pytest.mark.parametrize("epsilon", [700, 745, 746, 800, 10_000])
@pytest.mark.parametrize(
    "delta", [Fraction(1, 10**6), Fraction(1, 10**60), Fraction(1, 2)], ids=float
)
def test_probabilities_that_are_no_doubles(epsilon: int, delta: Fraction) -> None:
    """Responses among three: ε + ln(1 − δ/p), p the chance of the true answer. In doubles e^(−ε)
    was zero, and ε itself came out as a lower bound.
    """
    parts = ((ResponsePair(Fraction(epsilon), categories=3), 1),)
    low, high = finite_sums.epsilon_bounds(parts, delta)
    with precision(1024):
        p = 1 / (1 + 2 * ball(Fraction(-epsilon)).exp())
        truth = epsilon + (1 - ball(delta) / p).log()
        assert ball(Fraction(low)) <= truth <= ball(Fraction(high))
    assert high - low <= 1e-14 * high


def test_one_direction_alone() -> None:
    pair = FinitePair((Fraction(1, 10), Fraction(9, 10)), (Fraction(4, 10), Fraction(6, 10)))
    there, back = (
        finite_sums.epsilon_bounds(((pair, 1),), Fraction(1, 100), (side,)) for side in (0, 1)
    )
    assert there[1] < 0.5 < back[0]
    assert finite_sums.epsilon_bounds(((pair, 1),), Fraction(1, 100)) == back
    assert finite_sums.delta_bounds(((pair, 1),), Fraction(0), (0,)) == finite_sums.delta_bounds(
        ((pair, 1),), Fraction(0), (1,)
    )
