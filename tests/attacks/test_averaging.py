"""Asking again and again: how many answers it takes, and where a ledger ends it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.averaging import averaging, mean_game, standard_deviation
from sfumato.errors import Refused
from sfumato.guarantees.meaning.averaging_limits import averaged_after, within
from sfumato.testing.seeded_bits import SeededBits

TABLE = pd.DataFrame({"city": ["Roma", "Bari", "Bari"] * 20})


def test_the_interface_and_the_number_needed() -> None:
    result = sf.attacks.averaging(TABLE, n=1000, trials=100)
    assert result.truth == 60
    assert len(result.answers) == 1000
    assert result.needed == averaged_after("0.1") == 3071


def test_S_146_standard_deviations() -> None:
    assert standard_deviation(1, "0.1", "0.008") == pytest.approx(0.1131370849898476, abs=1e-12)
    assert standard_deviation(100, "0.1", "0.008") == pytest.approx(0.01131370849898476, abs=1e-12)
    result = averaging(TABLE, n=100, trials=10)
    assert result.numbers["epsilon of all"] == 10
    assert result.numbers["sd of the mean"] == pytest.approx(result.sd / 10)
    assert result.sd < standard_deviation(1, "0.1")  # the integer law is the tighter one


def test_enough_answers_are_right_and_few_are_not() -> None:
    """The number needed gives 95 % by the exact law; two fewer do not. 20 seeded runs of it: at 95
    %, fewer than 12 are right with probability 1e-7.
    """
    epsilon, needed = 1.0, averaged_after(1)
    assert (
        within((needed - 1) // 2, needed, epsilon)
        >= 0.95
        > within((needed - 3) // 2, needed - 2, epsilon)
    )
    bits = SeededBits(1)
    right = sum(
        round(
            float(averaging(TABLE, n=needed, epsilon=1, trials=1, epsilons=(), bits=bits).means[-1])
        )
        == 60
        for _ in range(20)
    )
    assert right >= 12


def test_the_mean_settles() -> None:
    result = averaging(TABLE, n=200, epsilon=5, budget=5, trials=1, epsilons=(), bits=SeededBits(2))
    assert result.settled is not None
    assert (np.rint(result.means[result.settled - 1 :]) == 60).all()
    assert (
        averaging(
            TABLE, n=2, epsilon="0.001", budget="0.001", trials=1, epsilons=(), bits=SeededBits(2)
        ).settled
        is None
    )


def test_the_ledger_ends_it() -> None:
    result = averaging(TABLE, n=10, where={"city": "Bari"}, epsilon="0.25", budget=1, trials=10)
    assert result.truth == 40
    assert result.ledger.answers == 4
    assert result.ledger.same_bytes
    assert "gives 4 such answers and refuses the next one" in result.sentences[2]
    assert "byte for byte" in result.sentences[2]


def test_the_promise_is_kept_and_unbounded_answers_break_it() -> None:
    """Budgets up to 5, in answers at 0.1. The twin: 1000 answers at ε = 2, which cost 2000, are
    caught at the bound of ε = 2.
    """
    exact, *private = mean_game(
        [Fraction(1), Fraction(2), Fraction(5)], 4000, Fraction(1, 10), bits=SeededBits(3)
    )
    assert exact.rate == 1
    assert all(success.holds for success in private)
    _, many = mean_game([Fraction(2000)], 1000, Fraction(2), bits=SeededBits(4))
    assert many.lower() > private[1].bound


def test_picture_and_refusals() -> None:
    figure = averaging(TABLE, n=50, epsilon=1, budget=3, trials=10, bits=SeededBits(5)).plot()
    assert figure.axes[0].get_xscale() == "log"
    for budget, epsilon in ((1, 2), (100, "0.1")):
        with pytest.raises(Refused) as refused:
            averaging(TABLE, n=5, budget=budget, epsilon=epsilon)
        assert refused.value.code == "attacks.budget"
    assert math.isclose(
        float(averaging(TABLE, n=1, trials=1).numbers["sd of one"]), 14.136, rel_tol=1e-3
    )
