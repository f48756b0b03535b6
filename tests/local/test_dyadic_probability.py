"""Probabilities as whole numbers of 2^-64: rounded for certain, and promises proved with them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.local.lib.dyadic_probability import (
    ONE,
    as_fraction,
    check_promise,
    down,
    epsilon_of_odds,
    up,
)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=20))
def test_next_to_each_other_around_the_truth(epsilon: Fraction) -> None:
    low, high = (
        down(lambda: 1 / (1 + ball(epsilon).exp())),
        up(lambda: 1 / (1 + ball(epsilon).exp())),
    )
    assert high == low + 1
    assert below(lambda: ball(as_fraction(low)), lambda: 1 / (1 + ball(epsilon).exp()))
    assert below(lambda: 1 / (1 + ball(epsilon).exp()), lambda: ball(as_fraction(high)))


def test_what_is_whole_stays() -> None:
    assert down(lambda: ball(Fraction(3, 4))) == up(lambda: ball(Fraction(3, 4))) == 3 * ONE // 4
    assert as_fraction(ONE // 2) == Fraction(1, 2)


def test_a_promise_is_proved_or_refused() -> None:
    check_promise(Fraction(271828, 100000), Fraction(1), "x")
    for odds in (Fraction(271829, 100000), Fraction(1), Fraction(1, 2)):
        with pytest.raises(Refused) as refused:
            check_promise(odds, Fraction(1), "x")
        assert refused.value.code == "local.epsilon"


def test_the_loss_is_rounded_up() -> None:
    assert float(epsilon_of_odds(Fraction(3))) == pytest.approx(1.0986122886681098, abs=1e-15)
    assert below(lambda: ball(3), lambda: ball(epsilon_of_odds(Fraction(3))).exp())
