"""Ordered buckets: the law by arithmetic, the same buckets as the client's, the window of the
source.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.local import Ordinal, client, restore
from sfumato.local.ordered.ordinal import best_window
from sfumato.local.ordered.ordinal_estimate import chances
from sfumato.testing import SeededBits

from .drawn import agrees, bent
from .laws import largest_odds, law_of, law_of_call

SMALL = {
    "edges": Ordinal(epsilon=1, edges=[0, 1, "5/2", 10]),
    "categories": Ordinal(epsilon="1/10", categories=["never", "rarely", "often"]),
    "two": Ordinal(epsilon=2, categories=["low", "high"]),
    "window": Ordinal(epsilon=1, edges=range(6), window=2),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_law_by_arithmetic(name: str) -> None:
    oracle = SMALL[name]
    laws = [law_of(json.loads(json.dumps(oracle.question)), code) for code in range(oracle.k)]
    assert largest_odds(laws) == oracle.odds == client.ODDS["ordinal"](oracle.question, 0)
    assert below(lambda: ball(oracle.odds), lambda: ball(oracle.epsilon).exp())
    for code, law in enumerate(laws):
        assert [
            float(law[cell.to_bytes(oracle.width, "big")]) for cell in range(oracle.cells)
        ] == pytest.approx(chances(oracle)[:, code], rel=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_the_vectorised_law_is_that_of_the_client(name: str) -> None:
    """False alarm 1e-7 a case, with seeded bits; a law wrong by 10 % is caught."""
    oracle = SMALL[name]
    reports = oracle.perturb(
        np.full(100_000, 1.5) if oracle.edges else [oracle.categories[1]] * 100_000,
        bits=SeededBits(6),
    )
    law = law_of(oracle.question, 1)
    assert agrees(reports, law)
    assert not agrees(reports, bent(law))


@settings(max_examples=100, deadline=None)
@given(value=st.one_of(st.floats(-5, 15), st.sampled_from([0.1, 0.3, 0.1 + 0.2, 1 / 3, -1, 0, 11])))
def test_the_same_bucket_as_the_client(value: float) -> None:
    oracle = Ordinal(epsilon=1, edges=["0.1", "0.3", "1/3", 2, 10])
    code = int(oracle._codes([value])[0])
    assert code == client.interval(oracle.question, value)
    exact = Fraction(float(value))
    assert code == 0 or oracle.edges[code] <= exact
    assert code == oracle.k - 1 or exact < oracle.edges[code + 1]


def test_questions_come_back() -> None:
    for oracle in SMALL.values():
        assert restore(json.dumps(oracle.question)) == oracle
        reports = [
            client.perturb(oracle.question, 1.0 if oracle.edges else oracle.categories[0])
            for _ in range(10)
        ]
        assert oracle.aggregate(reports).reports == 10
    assert SMALL["edges"].categories == ("0 to 1", "1 to 2.5", "2.5 to 10")


@pytest.mark.parametrize(("epsilon", "steps"), [(0.01, 100), (1.0, 100), (4.0, 100), (1.0, 3)])
def test_the_window_of_the_source(epsilon: float, steps: int) -> None:
    e = math.exp(epsilon)
    width = (epsilon * e - e + 1) / (e * (e - 1 - epsilon))
    assert best_window(Fraction(str(epsilon)), steps) == min(max(1, round(steps * width)), steps)


def test_extreme_epsilon() -> None:
    assert best_window(Fraction(100), 50) == 1
    assert best_window(Fraction(1, 10**6), 50) == 50


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "local.edges"),
        ({"edges": [0, 1, 2], "categories": ["a", "b"]}, "local.edges"),
        ({"edges": [0, 1]}, "local.edges"),
        ({"edges": [0, 2, 1]}, "local.edges"),
        ({"edges": [0, 1, 1]}, "local.edges"),
        ({"edges": range(2000)}, "local.size"),
        ({"edges": range(5), "window": 0}, "local.size"),
        ({"edges": range(5), "window": True}, "local.size"),
        ({"categories": ["a"]}, "categories.names"),
        ({"categories": ["a", "b"], "relation": "add-remove"}, "response.relation"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        Ordinal(epsilon=1, **arguments)
    assert refused.value.code == code


def test_values_that_are_none() -> None:
    """What is no number counts to the first bucket, infinities to the nearer; what is no category
    to a uniform one: its law is the mean of theirs.
    """
    edges, named = SMALL["edges"], SMALL["categories"]
    assert edges._codes([float("nan"), "x", None, -float("inf"), float("inf")]).tolist() == [
        0,
        0,
        0,
        0,
        edges.steps,
    ]
    assert client.interval(edges.question, float("nan")) == 0
    law = {
        report[4:]: p
        for report, p in law_of_call(lambda: client.perturb(named.question, "secret")).items()
    }
    each = [law_of(named.question, code) for code in range(named.k)]
    assert law == {
        report: sum((category_law.get(report, Fraction(0)) for category_law in each), Fraction(0))
        / named.k
        for report in law
    }
    assert largest_odds([law, *each]) == named.odds
    assert agrees(named.perturb(["secret"] * 100_000, bits=SeededBits(5)), law)
    assert not agrees(named.perturb([named.categories[0]] * 100_000, bits=SeededBits(5)), law)


def test_malformed_reports() -> None:
    oracle = SMALL["edges"]
    reports = oracle.perturb([1.0] * 3)
    with pytest.raises(Refused):
        oracle.estimate(type(reports)(reports.mark, np.full((2, 1), oracle.cells, dtype=np.uint8)))


def test_fakes_move_a_share_by_no_more_than_said() -> None:
    oracle = SMALL["window"]
    honest = oracle.perturb([2.5] * 90, bits=SeededBits(1))
    shares = [
        oracle.estimate(
            honest + type(honest)(honest.mark, np.full((10, 1), cell, dtype=np.uint8))
        ).cumulative
        for cell in range(oracle.cells)
    ]
    moved = max(np.abs(a - b).max() for a in shares for b in shares)
    assert moved == pytest.approx(oracle.influence(10, 100), rel=1e-9)


def test_shares_up_to_a_bucket_are_better_known_than_where_the_order_is_forgotten() -> None:
    from sfumato.local import Unary

    oracle, forgetful = Ordinal(epsilon=1, edges=range(33)), Unary(epsilon=1, categories=range(32))
    assert oracle.variance(1000) < 16 * forgetful.variance(
        1000
    )  # a sum of 16 of its frequencies, each of about this variance
