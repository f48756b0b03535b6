"""Whole questions: sound ones hold, through the door and as whole releases; a promise that is not
kept is refuted.

*False alarms*  At most 10⁻⁸ each, of fewer than twenty.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import sfumato as sf
from sfumato.auditing import query
from sfumato.auditing.queries import uses_secret_order
from sfumato.errors import Refused

SURE = 1 - 1e-8
DECLARED: dict[str, Any] = {"name": "t", "unit": "id", "max_rows": 1, "bounds": {"v": (0, 4)}}
X = pd.DataFrame({"id": [1, 2, 3], "v": [1.0, 2.0, 3.0], "g": ["a", "b", "a"]})
Y = pd.DataFrame({"id": [1, 2, 3, 4], "v": [1.0, 2.0, 3.0, 4.0], "g": ["a", "b", "a", "b"]})

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("SELECT COUNT(*) AS n FROM t", {"epsilon": 4}),
    "sum": ("SELECT SUM(v) AS s FROM t", {"epsilon": 4}),
    "public groups": (
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
        {"epsilon": 4, "keys": {"g": ["a", "b"]}},
    ),
    "private groups": (
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
        {"epsilon": 4, "delta": "1e-2"},
    ),
    "median": ("SELECT MEDIAN(v) AS m FROM t", {"epsilon": 4}),
    "in mu": ("SELECT COUNT(*) AS n FROM t", {"promise": sf.GDP(3)}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_holds_and_an_eighth_of_its_claim_does_not(name: str) -> None:
    text, about = QUESTIONS[name]
    ask = query(text, **about, **DECLARED)
    r = sf.audit(ask, X, Y, samples=300, confidence=SURE)
    assert r.verdict == "holds"
    assert r.what == text
    if name in ("count", "sum", "public groups", "in mu"):
        claim = sf.GDP("1/2") if name == "in mu" else sf.Pure("1/2")
        assert sf.audit(ask, X, Y, claim=claim, samples=1500, confidence=SURE).verdict == "violated"


def test_two_rows_of_one_person_count_for_what_is_declared() -> None:
    first = pd.DataFrame({"id": [1, 2], "v": [1.0, 1.0], "g": ["a", "b"]})
    more = pd.DataFrame(
        {"id": [1, 2, 3, 3, 3, 3], "v": [1.0] * 6, "g": ["a", "b", "a", "a", "a", "a"]}
    )
    text = "SELECT COUNT(*) AS n FROM t"
    assert (
        sf.audit(
            query(text, epsilon=1, **DECLARED), first, more, samples=300, confidence=SURE
        ).verdict
        == "holds"
    )
    rows = {
        key: value for key, value in DECLARED.items() if key != "unit"
    }  # the twin: every row a person, though four are one's
    assert (
        sf.audit(query(text, epsilon=1, **rows), first, more, samples=3000, confidence=SURE).verdict
        == "violated"
    )


def test_whole_releases_and_functions_of_a_table() -> None:
    full = query("SELECT COUNT(*) AS n FROM t", epsilon=8, full_release=True, **DECLARED)
    r = sf.audit(full, X, Y, samples=40, confidence=0.99)
    assert r.verdict == "holds"
    built = query(lambda t: t.aggregate(n=sf.count()).release(epsilon=8), epsilon=8, **DECLARED)
    drawn = built.outputs_at(X, 3)
    assert len({str(answer) for answer in drawn}) >= 1
    assert all(answer.names == ("n",) or "n" in list(answer.names) for answer in drawn)


def test_what_a_question_lacks_is_learned_anew() -> None:
    ask = query(
        "SELECT SUM(v) AS s FROM t", epsilon=2, delta="1e-3", new_table=True, name="t", unit="id"
    )
    assert len(ask.outputs_at(X, 2)) == 2


def test_a_release_that_fails_is_an_output() -> None:
    def fails(_: Any) -> None:
        raise KeyError

    result = query(fails, epsilon=1, **DECLARED).outputs_at(X, 2)
    assert [error.name for error in result] == ["KeyError", "KeyError"]


def test_the_promise_is_given_once() -> None:
    for about in ({}, {"epsilon": 1, "promise": sf.Pure(1)}):
        with pytest.raises(Refused, match=r"audit\.claim"):
            query("SELECT COUNT(*) AS n FROM t", **about, **DECLARED)


MANY_ROWS = pd.DataFrame(
    {"id": [i for i in range(200) for _ in range(2)], "v": [0.0, 4.0] * 200, "g": ["a", "b"] * 200}
)


@pytest.mark.parametrize(
    "text",
    ["SELECT SUM(v) AS s FROM t", "SELECT COUNT(DISTINCT v) AS d FROM t"],
    ids=["truncation", "distinct"],
)
def test_an_order_that_is_drawn_is_drawn_anew_for_every_draw(text: str) -> None:
    """Of two hundred people one row each: a sum of deviation 28, so that six of them agree within
    the noise with a chance below 10⁻⁷.
    """
    about = {**DECLARED, "bounding": "truncation"} if "SUM" in text else DECLARED
    ask = query(text, epsilon=1000, **about)
    with ask._protected(MANY_ROWS, 1) as table:
        assert uses_secret_order(table.plan(text, promise=ask.claim, learn=False))
        assert (
            not uses_secret_order(
                table.plan("SELECT COUNT(*) AS n FROM t", promise=ask.claim, learn=False)
            )
            or "SUM" in text
        )
    if "SUM" in text:
        assert len({str(output) for output in ask.outputs_at(MANY_ROWS, 6)}) > 1


def test_a_correct_sum_by_truncation_holds() -> None:
    more = pd.concat(
        [MANY_ROWS, pd.DataFrame({"id": [999], "v": [4.0], "g": ["a"]})], ignore_index=True
    )
    ask = query("SELECT SUM(v) AS s FROM t", epsilon=1, **DECLARED, bounding="truncation")
    r = sf.audit(ask, MANY_ROWS, more, samples=40, confidence=0.99999999)
    assert r.verdict == "holds"


def test_a_function_that_asks_without_fresh_is_drawn_anew() -> None:
    """Of six draws of a deviation near 300 all are equal with a chance below 10⁻¹²."""
    ask = query(
        lambda t: t.sql("SELECT COUNT(*) AS n FROM t", promise=sf.Pure("1/200")),
        epsilon="1/200",
        **DECLARED,
    )
    assert len({str(answer.to_arrow().to_pydict()) for answer in ask.outputs_at(X, 6)}) > 1


@pytest.mark.parametrize("name", ["units", "ledger", "budget", "source"])
def test_what_a_table_is_not_declared_with_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"audit\.declared"):
        query("SELECT COUNT(*) AS n FROM t", epsilon=1, **{name: "x"})
