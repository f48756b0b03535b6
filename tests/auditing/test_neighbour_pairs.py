"""Pairs: of every kind they are neighbours, and the search finds the one that matters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.neighbour_pairs import EXTREMES, candidate_pairs, datasets
from sfumato.errors import Refused
from sfumato.guarantees.finite.channel import Channel

NOISE = mech.Laplace(sensitivity=1, epsilon=1)


@pytest.mark.parametrize(
    "m",
    [
        mech.Laplace(sensitivity=3, epsilon=1),
        mech.Gaussian(sensitivity=2, mu=1),
        mech.Laplace(sensitivity=1, epsilon=1, grid=0.25),
    ],
    ids=str,
)
def test_numbers_differ_by_the_sensitivity(m: Any) -> None:
    result = list(candidate_pairs(m, m.promise))
    assert len(result) >= 5
    assert all(abs(abs(a - b) - m.sensitivity) < 1e-6 for a, b in result)


@pytest.mark.parametrize(
    "m",
    [
        mech.Laplace(sensitivity="1e-7", epsilon=1, grid=2**-33),
        mech.Laplace(sensitivity="0.1", epsilon=1, grid=2**-20),
    ],
    ids=str,
)
def test_doubles_that_differ_by_more_than_the_sensitivity_are_no_pair(m: Any) -> None:
    """10⁹ + 10⁻⁷ is a double that is 1.19·10⁻⁷ away from 10⁹."""
    assert all(m.are_neighbours(*pair) for pair in candidate_pairs(m, m.promise))
    assert all(m.are_neighbours(*pair) for pair in candidate_pairs(m, m.promise, 1e9))
    assert not m.are_neighbours(1e9, 1e9 + float(m.sensitivity))
    assert sf.audit(m, samples=100).known_neighbours


@pytest.mark.parametrize(
    "m",
    [
        mech.OptimalSelection(epsilon=0.1, delta="1e-3"),
        mech.OptimalSelection(epsilon=5, delta="1e-3", quanta=3),
    ],
    ids=str,
)
def test_groups_are_tried_where_a_coin_decides(m: Any) -> None:
    pairs = list(candidate_pairs(m, m.promise))
    assert all(b - a == m.quanta for a, b in pairs)
    assert any(m.keep_probability(a) < 0.5 <= m.keep_probability(b) for a, b in pairs)


@pytest.mark.parametrize("kind", [mech.Exponential, mech.PermuteAndFlip, mech.NoisyMax])
@pytest.mark.parametrize("monotone", [False, True])
def test_scores_move_by_the_sensitivity_and_one_way_where_they_must(
    kind: Any, monotone: bool
) -> None:
    m = kind(sensitivity=2, epsilon=1, monotone=monotone)
    for a, b in candidate_pairs(m, m.promise):
        moves = [two - item for item, two in zip(a, b, strict=True)]
        assert max(abs(move) for move in moves) <= 2
        if monotone:
            assert all(move >= 0 for move in moves) or all(move <= 0 for move in moves)
        assert any(moves)


@pytest.mark.parametrize("relation", ["add-remove", "replace", None])
def test_datasets_differ_in_one_record(relation: Any) -> None:
    for a, b in datasets(EXTREMES, sf.Pure(1, relation=relation)):
        if relation == "replace":
            assert len(a) == len(b)
            assert sum(x is not y for x, y in zip(a, b, strict=True)) <= 1
        else:
            assert b[: len(a)] == a or all(x is y for x, y in zip(a, b, strict=False))
            assert len(b) == len(a) + 1


def test_the_search_finds_the_one_record_that_breaks_it() -> None:
    def only_nan(data: list[Any]) -> Any:
        return NOISE.perturb(
            100 if any(isinstance(v, float) and math.isnan(v) for v in data) else 0
        )

    r = sf.audit(only_nan, claim=sf.Pure(1), samples=400)
    assert r.verdict == "violated"
    assert any(isinstance(v, float) and math.isnan(v) for v in r.pair[1])
    assert sf.audit(only_nan, claim=sf.Pure(1), samples=400, records=[0, 1]).verdict == "holds"


def test_the_search_finds_the_size_that_breaks_it() -> None:
    r = sf.audit(
        lambda data: "empty" if not data else NOISE.perturb(len(data)),
        claim=sf.Pure(1),
        samples=400,
    )
    assert r.verdict == "violated"
    assert [] in r.pair


def test_a_function_of_a_number_is_tried_with_numbers() -> None:
    r = sf.audit(lambda x: NOISE.perturb(3 * (x + 0)), claim=sf.Pure(1), samples=2000)
    assert r.verdict == "violated"
    assert abs(r.pair[0] - r.pair[1]) == 1


def test_beside_one_input_its_neighbours_are_tried() -> None:
    r = sf.audit(mech.Laplace(sensitivity=2, epsilon=1), 10, samples=400)
    assert r.pair in ((10, 12), (10, 8))
    r = sf.audit(lambda data: NOISE.perturb(len(data)), [5, 6], claim=sf.Pure(1), samples=400)
    assert r.pair[0] == [5, 6]
    assert len(r.pair[1]) == 3


def test_an_exact_search_takes_the_worst_pair() -> None:
    channel = Channel(
        {0: {"a": "1/2", "b": "1/2"}, 1: {"a": "2/5", "b": "3/5"}, 2: {"a": "1/10", "b": "9/10"}}
    )
    r = sf.audit(channel, claim=sf.Pure(2), exact=True)
    assert set(r.pair) == {0, 2}
    assert r.epsilon_lower == pytest.approx(math.log(5))


def test_where_no_pair_is_known_one_is_asked_for() -> None:
    with pytest.raises(Refused, match=r"audit\.pair"):
        sf.audit(
            mech.Gibbs(epsilon=1, delta="1e-6", lipschitz=1, convexity=1, low=0, high=1), samples=40
        )

    def of_text(x: str) -> str:
        return x.upper()

    with pytest.raises(Refused, match=r"audit\.pair"):
        sf.audit(of_text, claim=sf.Pure(1), samples=40)
    assert np.isfinite(1.0)


def test_a_number_is_tried_with_its_neighbours() -> None:
    r = sf.audit(lambda v: NOISE.perturb(v), 5, claim=sf.Pure(1), samples=100)
    assert r.pair in ((5, 6), (5, 4))
    assert sf.audit(NOISE, np.int64(7), samples=100).pair in ((7, 8), (7, 6))


def test_an_array_is_a_dataset_and_a_category_has_others_beside_it() -> None:
    r = sf.audit(
        lambda data: NOISE.perturb(len(data)), np.array([1, 2, 3]), claim=sf.Pure(1), samples=100
    )
    assert r.pair[0] == [1, 2, 3]
    assert len(r.pair[1]) == 4
    assert (
        sf.audit(
            mech.RandomizedResponse(epsilon=1, categories=["a", "b", "c"]), "b", samples=100
        ).pair[0]
        == "b"
    )
    assert sf.audit(NOISE, [1, 2, 3], samples=100).pair[1] in ([2, 2, 3], [0, 2, 3])


@pytest.mark.parametrize("x", [{"a": 1}, "text", object()], ids=["map", "text", "object"])
def test_an_input_whose_neighbours_are_not_known_is_refused(x: Any) -> None:
    with pytest.raises(Refused, match=r"audit\.pair"):
        sf.audit(lambda v: NOISE.perturb(len(str(v))), x, claim=sf.Pure(1), samples=100)


@pytest.mark.parametrize(
    ("m", "x", "y", "near"),
    [
        (NOISE, 0, 1, True),
        (NOISE, 0, 2, False),
        (NOISE, [0, 0], [1, 1], False),
        (mech.Gaussian(sensitivity=2, mu=1), [0, 0], [1, 1], True),
        (mech.Gaussian(sensitivity=1, mu=1), [0, 0], [1, 1], False),
        (mech.Laplace(sensitivity=1, epsilon=1, grid=0.25), 1 / 3, 1 / 3 + 1, True),
        (NOISE, 0, math.nan, True),
        (NOISE, 2**70, 2**70 + 2, False),
    ],
    ids=str,
)
def test_neighbours(m: Any, x: Any, y: Any, near: bool) -> None:
    assert m.are_neighbours(x, y) is near
