"""The scoreboard finds people by a few ratings; private counts of the same ratings say no more than
allowed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from sfumato.attacks.data.ratings import Ratings, ratings, ratings_of
from sfumato.attacks.scoreboard import Board, Scoreboard, scoreboard
from sfumato.errors import Refused

from .promises import promises_hold


@cache
def data() -> Ratings:
    return ratings(3000, 1000)


@cache
def run_scoreboard(days: int = 14, wrong: int = 0) -> Scoreboard:
    return scoreboard(data(), known_ratings=(1, 2, 4, 8), days=days, wrong=wrong, trials=100)


def test_scores_by_hand() -> None:
    small = Ratings(
        np.array([0, 0, 1, 2]),
        np.array([0, 1, 0, 1]),
        np.array([5.0, 3.0, 2.0, 3.0]),
        np.array([10.0, 20.0, 40.0, 20.0]),
    )
    scores = Board(small).scores(np.array([0, 1]), np.array([5.0, 3.0]), np.array([10.0, 20.0]))
    each = 1 / math.log(2)
    assert scores.tolist() == pytest.approx(
        [4 * each, (math.exp(-2) + math.exp(-1)) * each, 2 * each]
    )


def test_a_record_has_to_stand_out() -> None:
    """Two equal records: neither is named. One alone: it is."""
    twins = Ratings(
        np.array([0, 1, 2]),
        np.array([0, 0, 1]),
        np.array([5.0, 5.0, 1.0]),
        np.array([10.0, 10.0, 10.0]),
    )
    assert Board(twins).find(np.array([0]), np.array([5.0]), np.array([10.0])) is None
    assert Board(twins).find(np.array([1]), np.array([1.0]), np.array([10.0])) == 2


def test_S_147_more_known_ratings_find_more_people() -> None:
    shares = run_scoreboard().identified
    assert list(shares) == sorted(shares)
    assert shares[0] < 0.4
    assert shares[-1] > 0.95


def test_E_64_two_wrong_ratings_of_eight_are_borne() -> None:
    assert run_scoreboard(wrong=2).identified[-1] > 0.9


def test_nearer_dates_tell_more() -> None:
    assert run_scoreboard(days=3).identified[1] > run_scoreboard(days=14).identified[1] - 0.05
    assert run_scoreboard(days=200).identified[1] < run_scoreboard(days=3).identified[1]


def test_remembered_ratings() -> None:
    board, generator = Board(data()), np.random.default_rng(0)
    rated = dict(zip(data().item[data().of(5)].tolist(), data().of(5).tolist(), strict=True))
    films, stars, days = board.remembered(5, 8, 3, 2, generator)
    assert len(films) == 8
    true = [at for at, film in enumerate(films.tolist()) if film in rated and at >= 2]
    assert len(true) == 6
    assert all(
        abs(stars[at] - data().stars[rated[films[at]]]) <= 1
        and abs(days[at] - data().day[rated[films[at]]]) <= 3
        for at in true
    )


def test_words_numbers_and_a_picture() -> None:
    result = run_scoreboard()
    assert "8 known ratings find" in str(result)
    assert result.numbers["identified by 8"] == result.identified[-1]
    (axes,) = result.plot().axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), result.identified)


def test_private_counts_keep_their_promise() -> None:
    """Wrong with probability 10⁻⁶; the ratings themselves, the twin, are far above what is
    allowed.
    """
    exact, *private = run_scoreboard().against(("0.1", 1), trials=200)
    assert exact.lower() > 0.85
    assert promises_hold(private)
    assert all(success.bound < 0.74 for success in private)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"data": {"a": [1]}}, "attacks.table"),
        ({"known_ratings": ()}, "attacks.trials"),
        ({"known_ratings": 3}, "attacks.trials"),
        ({"known_ratings": (0,)}, "attacks.trials"),
        ({"days": -1}, "attacks.trials"),
        ({"trials": 0}, "attacks.trials"),
    ],
    ids=["table", "none", "number", "zero", "days", "trials"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        scoreboard(**({"data": data()} | arguments))
    assert refusal.value.code == code


def test_one_person_is_not_found_among_others() -> None:
    first = ratings_of(
        {"who": [7, 7], "film": [1, 2], "stars": [3, 4], "day": [10, 20]},
        person="who",
        item="film",
        stars="stars",
        day="day",
    )
    with pytest.raises(Refused) as refused:
        scoreboard(first)
    assert refused.value.code == "attacks.trials"
