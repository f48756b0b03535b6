"""Which pair dominates a mechanism."""

from __future__ import annotations

from fractions import Fraction

from sfumato import mechanisms as mech
from sfumato.accounting.loss.loss_pairs import GaussianPair, LaplacePair
from sfumato.accounting.loss.pair_of_mechanism import pair_of, pairs_of
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import RoundedPair


def test_mechanisms_have_the_pair_of_their_law() -> None:
    assert pair_of(mech.Laplace(sensitivity=3, epsilon=1)) == LaplacePair(Fraction(1), 3)
    assert pair_of(mech.Laplace(sensitivity=1, epsilon=1, grid=2**-4, size=5)) == LaplacePair(
        Fraction(1), 20
    )  # 16 steps, and 4 for rounding five numbers
    assert pair_of(mech.Gaussian(sensitivity=2, sigma=3)) == GaussianPair(Fraction(4, 9))
    assert pair_of(mech.Gaussian(sensitivity=2, sigma=3, size=1)) == RoundedPair(2, Fraction(3))
    assert pair_of(mech.RandomizedResponse(epsilon=1, categories=range(4))) == ResponsePair(
        Fraction(1), categories=4
    )
    toss = pair_of(mech.RandomizedResponse.coin_toss(range(3)))
    assert toss == FinitePair(
        (Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)),
        (Fraction(1, 8), Fraction(3, 4), Fraction(1, 8)),
    )
    assert pair_of(mech.Staircase(sensitivity=1, epsilon=1)) == ResponsePair(Fraction(1))


def test_the_pairs_of_combined_mechanisms_are_those_of_all_their_parts() -> None:
    a, b = mech.Laplace(sensitivity=3, epsilon=1), mech.Gaussian(sensitivity=2, sigma=3)
    combined = mech.Combined([a, mech.Combined([b, a])])
    assert pairs_of(combined) == ((pair_of(a), 1), (pair_of(b), 1), (pair_of(a), 1))
