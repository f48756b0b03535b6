"""Pairs of finite laws."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.loss.pairs_finite import FinitePair
from sfumato.guarantees.finite.divergences import hockey_stick

from ..refusing import refusing


def test_a_finite_pair_is_what_it_says() -> None:
    p, q = (
        [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0)],
        [Fraction(1, 4), Fraction(1, 4), Fraction(0), Fraction(1, 2)],
    )
    loss = sf.Loss(((FinitePair(tuple(p), tuple(q)), 1),), relation="add-remove")
    for e in ("0", "0.2", "0.5", "2"):
        worst = max(hockey_stick(p, q, e, rounding="up"), hockey_stick(q, p, e, rounding="up"))
        assert loss.delta(e) == pytest.approx(worst, rel=1e-13)
        assert loss.delta(e) >= worst * (1 - 1e-15)
    assert loss.epsilon("0.4") == float("inf"), (
        "an answer that only one of the datasets gives has a chance of one half"
    )


def test_laws_that_cannot_be_stored_are_refused() -> None:
    tiny = Fraction(1, 2**13_001)
    half = (Fraction(1, 2), Fraction(1, 2))
    for p, q in (((tiny, 1 - tiny), half), (half, (tiny, 1 - tiny))):
        with refusing("law.sum"):
            FinitePair(p, q)


def test_the_promise_of_a_finite_pair_is_its_largest_loss_in_either_direction() -> None:
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 10), Fraction(9, 10))
    for pair in (FinitePair(p, q), FinitePair(q, p)):
        promise = pair.guarantee
        assert promise is not None
        assert promise.epsilon() == pytest.approx(math.log(5), rel=1e-14)
        assert promise.epsilon() >= math.log(5)
    impossible, certain = Fraction(0), Fraction(1)
    assert FinitePair((impossible, certain), p).guarantee is None


def test_a_nearer_pair_has_small_losses_and_is_given_up_if_its_numbers_grow_too_long() -> None:
    impossible, certain = Fraction(0), Fraction(1)
    pair = FinitePair((impossible, certain), (certain, impossible))
    nearer = pair.nearer(40)
    assert nearer is not None
    assert nearer.lost == (0, 0)
    assert all(high <= 1.5 * 40 for _, high in nearer.largest)
    assert pair.nearer(4000) is not None
    assert pair.nearer(5000) is None
