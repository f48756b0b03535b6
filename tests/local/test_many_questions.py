"""Several questions in one report: what adds and what does not, by arithmetic over the whole
law.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.guarantees import Pure
from sfumato.local import (
    Direct,
    Hadamard,
    OneBit,
    Panel,
    PrefixTree,
    Questionnaire,
    Rappor,
    Unary,
    client,
    restore,
)
from sfumato.testing import SeededBits

from .laws import largest_odds, law_of

ANSWER = Direct(epsilon=1, categories=["yes", "no"])
AGE = OneBit(epsilon=1, low=0, high=2, grid=1)
COLOUR = Unary(epsilon="1/2", categories=["red", "blue"])
CODES = [{"answer": a, "age": g, "colour": c} for a in range(2) for g in range(3) for c in range(2)]
PARTS = {"answer": ANSWER, "age": AGE, "colour": COLOUR}


@pytest.mark.parametrize("how", ["split", "sample"])
def test_the_promise_by_arithmetic(how: Any) -> None:
    """Over all reports and all pairs of people: split, the product of the odds and the sum of ε;
    sampled, the largest of each.
    """
    oracle = Questionnaire(PARTS, how=how)
    laws = [law_of(json.loads(json.dumps(oracle.question)), codes) for codes in CODES]
    odds = largest_odds(laws)
    each = [part.odds for part in PARTS.values()]
    assert odds == oracle.odds == (each[0] * each[1] * each[2] if how == "split" else max(each))
    assert oracle.promise == Pure("5/2" if how == "split" else 1)
    assert odds is not None
    assert below(lambda: ball(odds), lambda: ball(oracle.epsilon).exp())
    if how == "split":  # the twin: the largest alone is not kept when all are answered
        assert not below(
            lambda: ball(odds), lambda: ball(max(part.epsilon for part in PARTS.values())).exp()
        )
    for law in laws:
        rows = np.frombuffer(b"".join(law), dtype=np.uint8).reshape(-1, oracle.width)
        assert oracle._well_formed(rows).all()


def test_the_lot_tells_nothing() -> None:
    oracle = Questionnaire(PARTS)
    for codes in CODES:
        drawn: dict[int, Fraction] = {}
        for report, chance in law_of(oracle.question, codes).items():
            drawn[report[0]] = drawn.get(report[0], Fraction(0)) + chance
        assert drawn == dict.fromkeys(range(3), Fraction(1, 3))


@pytest.mark.parametrize("how", ["split", "sample"])
def test_estimates_by_name(how: Any) -> None:
    """3 000 seeded people: each estimate within 5 standard errors of the truth."""
    oracle, n = Questionnaire(PARTS, how=how), 3000
    values = {
        "answer": ["yes"] * 900 + ["no"] * 2100,
        "age": np.resize([0.0, 1.0, 2.0, 2.0], n),
        "colour": ["red"] * n,
    }
    estimates = oracle.estimate(oracle.perturb(values, bits=SeededBits(3)))
    assert abs(estimates["answer"]["yes"] - 0.3) < 5 * estimates["answer"].standard_error[0]
    assert abs(estimates["age"].mean - 1.25) < 5 * estimates["age"].standard_error
    assert abs(estimates["colour"]["red"] - 1) < 5 * max(
        estimates["colour"].standard_error[0], 0.05
    )
    counts = [part.reports for part in estimates.values()]
    assert counts == [n] * 3 if how == "split" else sum(counts) == n


def test_variance_says_which_is_better() -> None:
    """With the same ε in total, sampling wins for small ε; the variance of a sampled part is that
    of its own oracle at E[1/m].
    """
    full = {name: Direct(epsilon=1, categories="ab") for name in "xyz"}
    thirds = {name: Direct(epsilon="1/3", categories="ab") for name in "xyz"}
    sample, split = Questionnaire(full), Questionnaire(thirds, how="split")
    assert sample.promise == split.promise == Pure(1)
    assert sample.variance(9000)["x"] < split.variance(9000)["x"]
    assert split.variance(9000)["x"] == pytest.approx(thirds["x"].variance(9000))
    assert sample.variance(9000)["x"] == pytest.approx(full["x"].variance(3000), rel=1e-3)
    assert sample.variance(9000)["x"] > full["x"].variance(
        3000
    )  # Jensen: a random number of reports costs a little


def test_variance_by_simulation() -> None:
    """600 seeded surveys of 60 people: within 3 standard errors of the exact variance (people
    differ from survey to survey: answers are drawn).
    """
    oracle, bits, people = (
        Questionnaire(
            {"x": Direct(epsilon=1, categories="ab"), "y": Direct(epsilon=1, categories="ab")}
        ),
        SeededBits(4),
        np.random.default_rng(1),
    )
    off = []
    for _ in range(600):
        values = np.where(
            people.random(60) < 0, "a", "b"
        )  # nobody has a: the variance of a frequency of 0
        estimates = oracle.estimate(oracle.perturb({"x": values, "y": values}, bits=bits))
        off.append(estimates["x"]["a"])
    squares = np.array(off) ** 2
    assert abs(squares.mean() - oracle.variance(60)["x"]) < 3 * squares.std(ddof=1) / 600**0.5


@pytest.mark.parametrize("how", ["split", "sample"])
def test_there_and_back(how: Any) -> None:
    oracle = Questionnaire(PARTS, how=how, unit="person")
    sorted_again = json.dumps(
        oracle.question, sort_keys=True
    )  # a store may reorder keys; `names` keeps the order
    assert restore(sorted_again) == oracle
    reports = [
        client.perturb(json.loads(sorted_again), {"answer": "yes", "age": 1, "colour": "red"})
        for _ in range(30)
    ]
    assert len(oracle.read(reports)) == 30
    more = {**oracle.question, "epsilon": "1/2"}
    with pytest.raises(ValueError, match="tell more than it claims"):
        client.check(more)


def test_malformed_reports() -> None:
    oracle = Questionnaire({"answer": ANSWER, "code": Hadamard(epsilon=1, categories=range(300))})
    good = oracle.perturb({"answer": ["yes"] * 8, "code": [1] * 8}, bits=SeededBits(2))
    for row in (
        [2, 0, 0],
        [0, 2, 0],
        [0, 1, 1],
        [1, 255, 255],
    ):  # no such question, no such answer, no zero behind it, no such column
        bad = type(good)(good.mark, np.array([row], dtype=np.uint8))
        with pytest.raises(Refused) as refused:
            oracle.estimate(bad)
        assert refused.value.code == "local.report"
        assert (
            len(
                oracle.read(
                    type(good)(good.mark, np.concatenate([good.payload, bad.payload])), drop=True
                )
            )
            == 8
        )


@pytest.mark.parametrize(
    ("parts", "more"),
    [
        ({"a": ANSWER}, {}),
        (PARTS, {"how": "both"}),
        (PARTS, {"epsilon": 2}),
        ({"a": ANSWER, "b": Questionnaire(PARTS)}, {}),
        ({"a": ANSWER, "b": Rappor(epsilon=1, categories="ab")}, {}),
        ({"a": ANSWER, "b": PrefixTree(epsilon=1, length=2)}, {}),
        ({"a": ANSWER, "b": Panel(ANSWER, waves=2)}, {}),
    ],
    ids=["one", "how", "epsilon", "nested", "memory", "tree", "panel"],
)
def test_refused(parts: dict[str, Any], more: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        Questionnaire(parts, **more)
    assert refused.value.code == "local.several"


def test_columns() -> None:
    oracle = Questionnaire({"a": ANSWER, "b": ANSWER})
    for values in ({"a": ["yes"]}, {"a": ["yes"], "b": ["yes", "no"]}, 3):
        with pytest.raises(Refused) as refused:
            oracle.perturb(values)
        assert refused.value.code == "local.several"
    with pytest.raises(Refused):
        oracle.aggregate(oracle.perturb({"a": ["yes"], "b": ["no"]}))
    with pytest.raises(Refused) as refused:
        Questionnaire({"a": ANSWER, "b": ANSWER}, relation="add-remove")
    assert refused.value.code == "response.relation"
    import pandas as pd

    assert len(oracle.perturb(pd.DataFrame({"a": ["yes", "no"], "b": ["no", "no"]}))) == 2
