"""The composition game: honest randomness, honest bookkeeping, and a bound that good adversaries
come close to but do not break.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting.game import Answers, Move, composition_game, draw
from sfumato.accounting.optimal_composition import optimal_curve
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, REPLACE
from sfumato.testing import SeededBits

from ..refusing import refusing

RESPONSE = Channel.randomized_response("0.2")


class Counting:
    """Asks the same question again and again, and goes with the majority: the best test there
    is.
    """

    def choose(self, answers: Answers) -> Move:
        return Move(0, 1, RESPONSE, sf.Pure("0.2"))

    def guess(self, answers: Answers) -> int:
        return int(2 * sum(answers) > len(answers))


class Guessing(Counting):
    def guess(self, answers: Answers) -> int:
        return 0


class Betraying(Counting):
    """A channel that is not what its cost says: what the game is there to show."""

    def choose(self, answers: Answers) -> Move:
        return Move(0, 1, Channel([[1, 0], [0, 1]]), sf.Pure("0.2"))


class Doubling(Counting):
    """Spends twice as much after every 1."""

    def choose(self, answers: Answers) -> Move:
        spend = Fraction(1, 10) * 2 ** sum(answers)
        return Move(0, 1, Channel.randomized_response(spend), sf.Pure(spend))


def test_S_105_ten_rounds_of_randomized_response() -> None:
    """The exact δ of ten rounds of ε = 0.2 is 0.0247 at 1 and 0.2421 at 0, which is the advantage
    of the majority. False alarms below 10⁻⁶ (Hoeffding).
    """
    plays = 1500
    game = composition_game(
        Counting(), budget=sf.Pure(2), rounds=10, plays=plays, bits=SeededBits(1)
    )
    exact = optimal_curve([(sf.Pure("0.2"), 10)])
    assert exact.delta(1) == pytest.approx(0.02473299701, abs=1e-11)
    error = math.sqrt(2 * math.log(2e6) / plays)
    assert abs(float(game.advantage) - exact.delta(0)) < error
    assert game.advantage_lower() < game.advantage
    assert game.advantage_lower(1 - 1e-6) <= exact.delta(0) <= game.bound == sf.Pure(2).delta(0)
    assert {len(play.answers) for play in game.plays} == {10}
    assert {play.spent for play in game.plays} == {sf.Pure(2)}


def test_who_does_not_look_learns_nothing() -> None:
    """False alarms below 10⁻⁶."""
    game = composition_game(Guessing(), budget=sf.Pure(2), rounds=2, plays=1000, bits=SeededBits(2))
    assert abs(float(game.advantage)) < math.sqrt(2 * math.log(2e6) / 1000)


def test_a_broken_promise_is_seen() -> None:
    """The twin that must fail: the claimed bound is exceeded, beyond doubt."""
    game = composition_game(
        Betraying(), budget=sf.Pure("0.4"), rounds=2, plays=500, bits=SeededBits(3)
    )
    assert game.advantage > Fraction(9, 10)
    assert game.advantage_lower(1 - 1e-6) > game.bound


def test_the_filter_ends_a_play() -> None:
    game = composition_game(Doubling(), budget=sf.Pure(1), rounds=20, plays=200, bits=SeededBits(4))
    for play in game.plays:
        assert play.spent <= sf.Pure(1)
        spent = [Fraction(1, 10) * 2 ** sum(play.answers[:i]) for i in range(len(play.answers) + 1)]
        assert sum(spent[:-1]) <= 1 < sum(spent)
    assert len({len(play.answers) for play in game.plays}) > 1
    assert game.advantage_lower(1 - 1e-6) <= game.bound


def test_mechanisms_and_relations() -> None:
    """A count of records with Laplace noise, as any function of a dataset and bits."""
    count = mech.Laplace(sensitivity=1, epsilon="0.5", relation="add-remove")

    class Analyst:
        def choose(self, answers: Answers) -> Move:
            return Move(
                (1, 1), (1, 1, 1), lambda x, bits: count.perturb(len(x), bits=bits), count.promise
            )

        def guess(self, answers: Answers) -> int:
            return int(sum(answers) > 2.5 * len(answers))

    game = composition_game(
        Analyst(), budget=sf.Pure(2), rounds=4, plays=800, relation=ADD_REMOVE, bits=SeededBits(5)
    )
    assert 0 < game.advantage_lower(1 - 1e-6) < game.bound
    with refusing("game.neighbours"):
        composition_game(Analyst(), budget=sf.Pure(2), rounds=4, relation=REPLACE)


def test_costs_of_finite_channels_are_found() -> None:
    assert float(Move(0, 1, RESPONSE).cost.parameters["epsilon"]) == pytest.approx(0.2)
    with refusing("game.cost"):
        Move(0, 1, Channel([[1, 0], ["1/2", "1/2"]]))
    with refusing("game.cost"):
        Move(0, 1, lambda x, bits: x)


def test_the_operating_system_plays_too() -> None:
    assert len(composition_game(Counting(), budget=sf.Pure(2), rounds=3, plays=5).plays) == 5


@pytest.mark.parametrize("bad", [{"rounds": 0}, {"plays": 0}])
def test_counts(bad: dict[str, int]) -> None:
    with refusing("guarantee.count"):
        composition_game(Counting(), budget=sf.Pure(2), **{"rounds": 1, **bad})
    with refusing("filter.currency"):
        composition_game(Counting(), budget=sf.Pure(1) + sf.GDP(1), rounds=1)


def test_draws_are_exact() -> None:
    """Every integer below the common denominator, once each: frequencies are the probabilities."""

    class Numbers:
        def __init__(self) -> None:
            self.next = -1

        def integer(self, bits: int) -> int:
            self.next = (self.next + 1) % 2**bits
            return self.next

    row = (Fraction(1, 6), Fraction(0), Fraction(1, 3), Fraction(1, 2))
    channel = Channel([row], inputs=["x"], outputs="abcd")
    tape = Numbers()
    counts: Counter[Hashable] = Counter(
        draw(channel, "x", tape)  # type: ignore[arg-type]  # a tape of chosen integers
        for _ in range(6)
    )
    assert counts == {"a": 1, "c": 2, "d": 3}
