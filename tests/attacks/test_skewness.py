"""A k-anonymous table that tells nevertheless, and private counts of it that do not tell more than
allowed.
"""

from __future__ import annotations

import pytest

from sfumato.attacks.data.ward import patients
from sfumato.attacks.skewness import skewness
from sfumato.errors import Refused

from .promises import promises_hold


def test_S_152_a_group_of_five_with_one_value_discloses_it() -> None:
    result = skewness(patients(), ["age", "area"], "disease")
    assert (result.k, result.n) == (5, 20)
    assert result.disclosure == 1
    assert (result.group, result.value) == (("40-59", "130**"), "cancer")
    assert result.certain == 0.25
    assert result.lift == pytest.approx(1 / (6 / 20))
    assert "has disease = cancer with probability 100 %" in str(result)
    assert set(result.numbers) == {"n", "k", "disclosure", "certain", "lift"}


def test_a_diverse_table_tells_less() -> None:
    result = skewness({"g": [0, 0, 0, 1, 1, 1], "v": ["a", "b", "c"] * 2}, ["g"], "v")
    assert result.disclosure == pytest.approx(1 / 3)
    assert (result.certain, result.lift) == (0, 1)


def test_the_picture() -> None:
    (axes,) = skewness(patients(), ["age", "area"], "disease").plot().axes
    assert [bar.get_height() for bar in axes.patches] == [1, 0.8, 0.4, 0.4]


def test_private_counts_keep_their_promise() -> None:
    """Wrong with probability 10⁻⁶; exact counts, the twin, are far above what is allowed."""
    exact, *private = skewness(patients(), ["age", "area"], "disease").against(
        ("0.1", 1), trials=1000
    )
    assert exact.lower() > 0.98
    assert promises_hold(private)
    assert all(success.bound < 0.5 for success in private)
    assert exact.chance == 1 / 4


def test_refusals() -> None:
    with pytest.raises(Refused, match=r"attacks\.sensitive"):
        skewness(patients(), ["age", "disease"], "disease")
    with pytest.raises(Refused, match=r"attacks\.columns"):
        skewness(patients(), "age", "disease")
