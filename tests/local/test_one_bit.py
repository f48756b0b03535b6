"""One bit of a number: the constants, and how they round."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.local import OneBit, Piecewise
from sfumato.local.lib.dyadic_probability import ONE


@pytest.mark.parametrize("epsilon", ["1/1000", "1/3", 1, 5, 40, 100])
def test_probabilities_lie_between_a_and_its_complement(epsilon: int | str) -> None:
    oracle = OneBit(epsilon=epsilon, low=0, high=1)
    most = oracle.least + oracle.steps * oracle.step
    assert 0 < oracle.least < most <= ONE - oracle.least
    assert (
        ONE - oracle.least - most < oracle.steps
    )  # no more is given away by rounding than a step has room for
    if Fraction(epsilon) < 40:
        assert float(oracle.odds) == pytest.approx(math.exp(Fraction(epsilon)), rel=1e-9)


def test_the_error_of_the_source() -> None:
    """n·Var at the middle of [−1, 1] is ((e^ε + 1)/(e^ε − 1))² (Duchi, Jordan & Wainwright 2013);
    at the ends it is that less 1.
    """
    for epsilon in (0.5, 1.0, 3.0):
        c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        oracle = OneBit(epsilon=epsilon, low=-1, high=1)
        assert oracle.variance(1) == pytest.approx(c * c, rel=1e-9)
        assert oracle.variance(1, 1) == pytest.approx(c * c - 1, rel=1e-9)


def test_piecewise_is_better_at_its_worst_from_one_point_three_on() -> None:
    better = [
        Piecewise(epsilon=e, low=0, high=1).variance(1)
        < OneBit(epsilon=e, low=0, high=1).variance(1)
        for e in ("1/2", 1, "1.28", "1.3", 2, 5)
    ]
    assert better == [False, False, False, True, True, True]
