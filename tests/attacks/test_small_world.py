"""Angie and Eva, by hand and by machine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.attacks.small_world import small_world
from sfumato.errors import Refused
from sfumato.guarantees.meaning.bayes import posterior_bounds


def test_S_125_Angie() -> None:
    result = sf.attacks.small_world()
    assert (result.likelihood, result.evidence) == (Fraction(21, 100), Fraction(198, 1000))
    assert result.posterior == Fraction(14, 33)


def test_E_36_printed_as_43_per_cent() -> None:
    result = small_world()
    assert result.numbers["posterior"] == pytest.approx(0.42424242424242425, abs=1e-15)
    assert round(float(result.posterior), 2) == 0.42 != 0.43


@pytest.mark.parametrize("answer", [-1, 0, 1, 2, 3])
def test_an_answer_moves_a_belief_as_bayes_says(answer: int) -> None:
    """Against the sum over both women's grades, written out."""
    noise = {0: Fraction(1, 4), 1: Fraction(3, 20), -1: Fraction(3, 20)}
    prior = Fraction(2, 5)
    joint = {
        (a, e): (prior if a else 1 - prior)
        * (prior if e else 1 - prior)
        * noise.get(answer - (2 - a - e), Fraction(0))
        for a in (0, 1)
        for e in (0, 1)
    }
    expected = (joint[1, 0] + joint[1, 1]) / sum(joint.values())
    assert small_world(prior, noise, answer).posterior == expected


def test_more_people_hide_each_other() -> None:
    beliefs = [
        abs(small_world(answer=round(0.6 * n), people=n).posterior - Fraction(2, 5))
        for n in (2, 5, 10)
    ]
    assert beliefs[0] > beliefs[2]


def test_a_law_with_a_promise_keeps_it() -> None:
    """Two-sided geometric noise of ε = 1, cut where it is below 1e-9 (the rest of the law leaves no
    trace at nine digits).
    """
    law = sf.mechanisms.Laplace(sensitivity=1, epsilon=1)
    noise = {z: float(law.probability(z)) for z in range(-20, 21)}
    bounds = posterior_bounds(1, "0.4")
    for answer in range(-5, 8):
        assert (
            bounds.low - 1e-9
            <= float(small_world(noise=noise, answer=answer).posterior)
            <= bounds.high + 1e-9
        )


@pytest.mark.parametrize(
    ("noise", "answer"), [({0: 1}, 7), ({0: "0.9", 1: "0.9"}, 1)], ids=["impossible", "no-law"]
)
def test_refusals(noise: dict[int, str], answer: int) -> None:
    with pytest.raises(Refused) as refused:
        small_world(noise=noise, answer=answer)
    assert refused.value.code == "attacks.values"


def test_words_and_picture() -> None:
    assert str(small_world()).endswith("So after it she has failed with a probability of 0.424242.")
    labels = [label.get_text() for label in small_world().plot().axes[0].get_yticklabels()]
    assert labels == ["−1", "0", "1", "2", "3"]


@pytest.mark.parametrize(
    "options",
    [{"answer": "1"}, {"answer": 1.5}, {"answer": True}, {"noise": 3}, {"noise": {"a": 1}}],
    ids=str,
)
def test_answers_are_whole(options: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        small_world(**options)
    assert refused.value.code == "attacks.values"
