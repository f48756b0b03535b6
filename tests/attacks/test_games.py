"""The games: exact answers give everything away, private ones no more than is allowed, and broken
noise is found out.

A verdict about the promises of a game is wrong with probability 10⁻⁶ at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.lib import games
from sfumato.attacks.lib.attack_result import Success
from sfumato.guarantees import Guarantee

from .promises import promises_hold

EPSILONS = tuple(map(Fraction, ("0.1", "0.5", "1", "2", "5")))
TRIALS = 5000


def presence(epsilons: Sequence[Fraction] = EPSILONS) -> tuple[Success, ...]:
    return games.play_presence(np.arange(TRIALS) % 3, epsilons)


def value(epsilons: Sequence[Fraction] = EPSILONS) -> tuple[Success, ...]:
    return games.play_value(np.tile([[2, 0, 1]], (TRIALS, 1)), epsilons)


def added(epsilons: Sequence[Fraction] = EPSILONS) -> tuple[Success, ...]:
    return games.play_sum(
        np.array([60.0, 5.0, 3.0]), np.array([100.0, 60.0]), 60.0, 128.0, epsilons, trials=TRIALS
    )


GAMES = {"presence": presence, "value": value, "added": added}
CHOICES = {"presence": 2, "value": 3, "added": 2}


@pytest.mark.parametrize("name", GAMES)
def test_exact_answers_give_all_away_and_promises_are_kept(name: str) -> None:
    exact, *private = GAMES[name]()
    assert exact.rate == 1
    assert exact.bound is None
    assert promises_hold(private)
    for first, epsilon in zip(private, EPSILONS, strict=True):
        e, k = math.exp(float(epsilon)), CHOICES[name]
        assert first.bound == pytest.approx(e / (e + k - 1), rel=1e-12)
        assert first.promise is not None
        assert first.promise.epsilon() == float(epsilon)
        assert first.promise.relation == ("add-remove" if name == "presence" else "replace")
        assert first.chance == 1 / k
    assert exact.lower() > max(first.bound for first in private[:4])
    assert [first.against for first in private] == ["ε = 0.1", "ε = 0.5", "ε = 1", "ε = 2", "ε = 5"]


def test_presence_reaches_what_is_allowed() -> None:
    """Two-sided geometric noise is ≥ 0 with e^ε/(1 + e^ε) exactly: the bound is no idle one.
    Outside ± 5.5 standard deviations, by the binomial law, with a probability of at most 4.0e-7 (at
    ε = 5; 4.5e-8 at ε = 2, 4e-8 at the others): 5.6e-7 in all.
    """
    for first in presence()[1:]:
        assert first.bound is not None
        assert abs(first.rate - first.bound) < 5.5 * math.sqrt(
            first.bound * (1 - first.bound) / TRIALS
        )


@pytest.mark.parametrize("name", GAMES)
def test_too_little_noise_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a release that promises ε and adds the noise of 20·ε breaks its promise in every
    game.
    """
    honest = games._release

    def broken(
        table: Any, sizes: Any, aggregate: Any, epsilon: Fraction, relation: str, bounds: Any
    ) -> tuple[Any, Guarantee]:
        observed, _ = honest(table, sizes, aggregate, 20 * epsilon, relation, bounds)
        return observed, sf.Pure(epsilon, relation=relation)

    monkeypatch.setattr(games, "_release", broken)
    assert [success.holds for success in GAMES[name]((Fraction(1, 2),))] == [None, False]


def test_which_game_follows_from_how_many_values_there_are() -> None:
    """Against exact answers every guess is right, however many others there are; those beyond the
    first few are left out.
    """
    for values, choices in ((0, 2), (1, 2), (3, 3), (1000, games.MOST_VALUES)):
        (exact,) = games.play_in_groups(np.array([0, 3, 10**9]), values, (), trials=10)
        assert (exact.hits, exact.trials, exact.chance) == (10, 10, 1 / choices)
