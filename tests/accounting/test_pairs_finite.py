"""Pairs of finite laws."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.loss.pairs_finite import FinitePair
from sfumato.guarantees.finite.divergences import hockey_stick


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
