"""The economic method: the least number of people, within the budget and within the error."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.choose_study import epsilon_allowed, epsilon_needed
from sfumato.errors import Refused
from sfumato.noise.geometric import Geometric


def test_payments_and_error_hold_and_one_person_fewer_fails() -> None:
    """By own formulas: payments within the budget; the tails of sampling and noise together below
    5 %; with one person fewer the budget does not pay.
    """
    study = sf.choose_study(error=0.05, loss=10, budget=30_000)
    assert study.total <= 30_000
    assert study.payment == pytest.approx(10 * (exp(study.epsilon) - 1), rel=1e-9)
    sampling = sqrt(log(2 / 0.025) / (2 * study.people))
    left = int(study.people * (0.05 - sampling))
    noise = Geometric(scale=1 / Fraction(study.epsilon))
    assert 0.005 < 2 * noise.tail(left + 1) <= 0.025  # neither too little noise nor far too much
    fewer = study.people - 1
    needed = epsilon_needed(fewer, Fraction(1, 20), Fraction(1, 20))
    assert needed is None or needed > epsilon_allowed(fewer, Fraction(10), Fraction(30_000))


def test_more_people_never_cost_the_feasibility() -> None:
    """Beyond the least number the error asks for no more ε than the budget allows."""
    study = sf.choose_study(error=0.05, loss=10, budget=30_000)
    for more in (0, 1, 2, 3, 10, 100, 1000, 10**6):
        people = study.people + more
        needed = epsilon_needed(people, Fraction(1, 20), Fraction(1, 20))
        assert needed is not None
        assert needed <= epsilon_allowed(people, Fraction(10), Fraction(30_000))


def test_larger_losses_ask_for_more_people() -> None:
    few = sf.choose_study(error=0.05, loss=1, budget=10_000)
    many = sf.choose_study(error=0.05, loss=100, budget=10_000)
    assert few.people < many.people
    assert few.epsilon > many.epsilon


@pytest.mark.parametrize(
    "arguments", [{"budget": "1e-9"}, {"loss": 0}, {"error": 0}, {"error": 2}], ids=str
)
def test_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        sf.choose_study(**{"error": 0.05, "loss": 10, "budget": 1000, **arguments})
