"""Generated ratings are sparse, long-tailed and the same for the same seed; one's own are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.attacks.data.ratings import DAYS, Ratings, ratings, ratings_of
from sfumato.errors import Refused


def test_the_same_seed_makes_the_same_data() -> None:
    first, two, second = (
        ratings(200, 100, seed=1),
        ratings(200, 100, seed=1),
        ratings(200, 100, seed=2),
    )
    for name in ("person", "item", "stars", "day"):
        np.testing.assert_array_equal(getattr(first, name), getattr(two, name))
    assert len(first.person) != len(second.person) or (first.item != second.item).any()


def test_shape() -> None:
    data = ratings(2000, 1000, each=40)
    many = np.bincount(data.person, minlength=2000)
    assert many.min() >= 1
    assert 30 < many.mean() < 41
    assert len({*zip(data.person.tolist(), data.item.tolist(), strict=True)}) == len(
        data.person
    )  # nobody rates a film twice
    assert (np.diff(data.person) >= 0).all()
    assert set(data.stars.tolist()) == {1, 2, 3, 4, 5}
    assert data.day.min() >= 0
    assert data.day.max() <= DAYS
    raters = np.sort(np.bincount(data.item))[::-1]
    assert raters[0] > 20 * np.median(raters)
    assert len(data.person) < 0.05 * 2000 * 1000
    assert data.of(7).tolist() == np.flatnonzero(data.person == 7).tolist()


def test_ratings_of_a_table() -> None:
    table = {
        "who": ["b", "a", "b"],
        "film": ["x", "x", "y"],
        "stars": [3, 4, 5],
        "when": ["2020-01-02", "2020-01-03", "2020-01-02"],
    }
    data = ratings_of(table, person="who", item="film", stars="stars", day="when")
    assert isinstance(data, Ratings)
    assert (data.people, data.items) == (2, 2)
    assert data.person.tolist() == [0, 0, 1]
    assert data.item.tolist() == [0, 1, 0]
    assert data.stars.tolist() == [3, 5, 4]
    assert data.day.tolist() == [18263, 18263, 18264]


@pytest.mark.parametrize(
    "arguments", [{"people": 1}, {"items": 2}, {"each": 1}, {"people": "many"}], ids=str
)
def test_refusals(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=r"attacks\.trials"):
        ratings(**arguments)
