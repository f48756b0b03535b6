"""What is known of whom, once some values can be ruled out."""

from __future__ import annotations

import pytest

from sfumato.attacks.background import background
from sfumato.attacks.data.ward import patients
from sfumato.errors import Refused


def test_each_value_ruled_out_tells_more() -> None:
    result = background(patients(), ["age", "area"], "disease", knows=3)
    assert result.certain == (0.25, 0.5, 0.75, 1.0)
    assert result.disclosure == (1, 1, 1, 1)
    assert str(result).splitlines()[:2] == [
        "An attacker who rules out no value of disease knows it for 25 % of the people.",
        "An attacker who rules out one value of disease knows it for 50 % of the people.",
    ]
    assert result.numbers["certain, 3 ruled out"] == 1


def test_disclosure_of_a_diverse_group() -> None:
    result = background({"g": [0] * 4, "v": ["a", "a", "b", "c"]}, ["g"], "v", knows=2)
    assert result.disclosure == pytest.approx((1 / 2, 2 / 3, 1))
    assert result.certain == (0, 0, 1)


def test_the_picture() -> None:
    (axes,) = background(patients(), ["age", "area"], "disease", knows=2).plot().axes
    assert [bar.get_height() for bar in axes.patches] == [0.25, 0.5, 0.75]


def test_private_counts_keep_their_promise() -> None:
    exact, private = background(patients(), ["age", "area"], "disease").against((1,), trials=500)
    assert exact.rate == 1
    assert private.holds


def test_refusals() -> None:
    with pytest.raises(Refused, match=r"attacks\.trials"):
        background(patients(), ["age"], "disease", knows=-1)
