"""The attacker who knows all but one: exact answers settle it, and private ones move a belief no
further than they may.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.infer import infer, one_unknown_game, posterior
from sfumato.attacks.lib.attack_result import Success
from sfumato.guarantees.meaning.bayes import posterior_bounds
from sfumato.mechanisms import Laplace
from sfumato.testing.seeded_bits import SeededBits

TABLE = pd.DataFrame(
    {"name": ["Angie", "Bob", "Chris", "David"], "grade": ["fail", "pass", "pass", "fail"]}
)


def test_the_exact_count_settles_it() -> None:
    result = sf.attacks.infer(TABLE, {"name": "Angie"}, value="fail", prior="0.4", trials=100)
    assert (result.others, result.exact, result.numbers["posterior"]) == (1, 2, 1)
    assert "his belief goes from 40 % to 100 %." in result.sentences[0]


def test_beliefs_are_told_rounded_outward() -> None:
    """The ends at ε = 1 are 0.26894… and 0.73105…"""
    result = str(infer(TABLE, {"name": "Angie"}, epsilons=(1,), trials=10, bits=SeededBits(1)))
    assert "below 26.8 % or above 73.2 %" in result
    assert "that 1 person other than Angie has grade = fail" in result


def test_whoever_passed_is_cleared() -> None:
    result = infer(TABLE, {"name": "Bob"}, value="fail", epsilons=(), trials=10)
    assert (result.exact - result.others, result.numbers["posterior"]) == (0, 0)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_beliefs_stay_where_they_may(epsilon: str) -> None:
    bounds = posterior_bounds(epsilon, "0.4")
    for excess in range(-30, 31):
        assert (
            bounds.low - 1e-12 <= posterior(Fraction(2, 5), excess, epsilon) <= bounds.high + 1e-12
        )
    assert posterior(Fraction(2, 5), 3, epsilon) == pytest.approx(
        bounds.high, abs=1e-9
    )  # and reach both ends
    assert posterior(Fraction(2, 5), -3, epsilon) == pytest.approx(bounds.low, abs=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_nobody_does_better_and_this_attacker_does_as_well(epsilon: str) -> None:
    """Σ max(p(z), p(z − 1))/2 by the exact law is e^ε/(1 + e^ε)."""
    law, e = Laplace(sensitivity=1, epsilon=epsilon), float(epsilon)
    best = (
        sum(max(float(law.probability(z)), float(law.probability(z - 1))) for z in range(-600, 601))
        / 2
    )
    assert best == pytest.approx(math.exp(e) / (1 + math.exp(e)), abs=1e-9)
    _, result = one_unknown_game([Fraction(epsilon)], 20_000, bits=SeededBits(1))
    assert (
        abs(result.rate - best) < 0.02
    )  # else with probability 2·e^(−16) (Hoeffding), were it not seeded
    assert result.holds


def test_a_promise_of_half_the_loss_is_refuted() -> None:
    _, result = one_unknown_game([Fraction(1)], 20_000, bits=SeededBits(2))
    wrong = Success(
        against="ε = 1/2",
        hits=result.hits,
        trials=result.trials,
        chance=0.5,
        promise=sf.Pure("1/2"),
        bound=0.6225,
    )
    assert not wrong.holds


def test_a_session_is_asked() -> None:
    result = infer(TABLE, {"name": "Angie"}, epsilons=(1, 200), trials=10)
    assert [belief.epsilon for belief in result.beliefs] == [1, 200]
    assert result.beliefs[1].answer == 2  # no noise, but with probability below 1e-80
    assert result.beliefs[1].posterior == pytest.approx(1)
    assert all(
        belief.posterior in belief.possible or math.isclose(belief.posterior, belief.possible.high)
        for belief in result.beliefs[:1]
    )
    assert len(result.plot().axes) == 1
