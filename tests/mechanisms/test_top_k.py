"""The k best: the law over ordered choices, every neighbouring pair, and exact draws."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees.neighbour_relations import RELATIONS

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

pytestmark = pytest.mark.usefixtures("precise")


def law(scores: tuple[int, ...], k: int, rate: Fraction) -> dict[tuple[int, ...], arb]:
    """Every ordered choice of k, with its probability: the exponential mechanism again and again
    among those that are left.
    """
    out = {}
    for order in itertools.permutations(range(len(scores)), k):
        left, chance = list(range(len(scores))), arb(1)
        for i in order:
            chance *= choosing.exponential([scores[j] for j in left], rate)[left.index(i)]
            left.remove(i)
        out[order] = chance
    return out


def test_the_interface() -> None:
    m = mech.TopK(k=2, sensitivity=1, epsilon=1, candidates=["a", "b", "c"])
    assert m.choose([10**6, 0, 10**7]) == ["c", "a"]
    assert m.promises == (sf.Pure(1), sf.ZCDP(Fraction(1, 16)))
    assert m.round.promise == sf.Pure(Fraction(1, 2))
    assert sorted(mech.TopK(k=3, sensitivity=1, epsilon=1).choose([0, 0, 0])) == [0, 1, 2]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_of_small_datasets(k: int, relation: str) -> None:
    """The k most frequent of three categories: pure ε, and ε²/(8k) at every order."""
    categories, epsilon = ("a", "b", "c"), Fraction(2)
    m = mech.TopK(
        k=k, sensitivity=1, epsilon=epsilon, monotone=relation == "add-remove", relation=relation
    )
    laws: dict[tuple[int, ...], list[arb]] = {}

    def of(x: Any) -> list[arb]:
        counts = tuple(Counter(x)[c] for c in categories)
        if counts not in laws:
            laws[counts] = list(law(counts, k, m.round.rate).values())
        return laws[counts]

    for x, y in RELATIONS[relation].pairs(categories, 3):
        assert not choosing.loss(of(x), of(y)) > ball(epsilon)
        for order in choosing.ORDERS[::3]:
            assert not choosing.renyi(of(x), of(y), order) > ball(order * epsilon**2 / (8 * k))


def test_the_whole_epsilon_in_every_round_is_caught() -> None:
    """The twin: k draws at ε each."""
    m = mech.Exponential(sensitivity=1, epsilon=2)
    p, q = (list(law(s, 2, m.rate).values()) for s in ((0, 0, -9, -9), (-1, -1, -8, -8)))
    assert choosing.loss(p, q) > ball(Fraction(3))


@pytest.mark.parametrize(
    "scores",
    [[3, 1, 0, 2], np.array([3, 1, 0, 2]), [Fraction(3), Fraction(1), 0, 2]],
    ids=lambda s: type(s[0]).__name__,
)
def test_draws_fit_the_law(scores: Any) -> None:
    """False alarms: 1e-6 each, 3 in all. The twin has them in reverse order."""
    m = mech.TopK(k=2, sensitivity=1, epsilon=4)
    truth = law((3, 1, 0, 2), 2, m.round.rate)
    place = {order: i for i, order in enumerate(truth)}
    sample = [tuple(m.choose(scores)) for _ in range(4000)]
    chances = [float(p.mid()) for p in truth.values()]
    assert choosing.fit([place[order] for order in sample], chances) > choosing.FALSE_ALARM
    assert choosing.fit([place[order[::-1]] for order in sample], chances) < 1e-9


def test_floats_live_on_a_grid() -> None:
    m = mech.TopK(k=1, sensitivity=0.5, epsilon=1, grid=2**-3)
    assert m.choose([0.0, 1e6]) == [1]
    assert m.round.rate == Fraction(1, 8)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"k": 0}, "selection.k"),
        ({"k": True}, "selection.k"),
        ({"k": 1.5}, "selection.k"),
        ({"k": 3}, "selection.k"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"sensitivity": 0}, "number.not-positive"),
        ({"candidates": ["a", "a"]}, "selection.candidates"),
    ],
    ids=str,
)
def test_records_that_are_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(
        lambda: mech.TopK(
            **({"k": 2, "sensitivity": 1, "epsilon": 1, "candidates": ["a", "b"]} | arguments)
        ),
        code,
    )


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ([987654321], "selection.scores"),
        ([987654321, 1, 2], "selection.scores"),
        ([987654321.5, 1.0], "selection.grid"),
    ],
)
def test_scores_that_are_refused(scores: Any, code: str) -> None:
    refused = refusal(
        lambda: mech.TopK(k=2, sensitivity=1, epsilon=1, candidates=["a", "b"]).choose(
            scores, bits=Untouchable()
        ),
        code,
    )
    assert "987654321" not in str(refused)
