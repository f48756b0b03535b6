"""Aggregates: records of public things, with a text that says all that matters; what is no question
is refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.tables import aggregates as ag
from sfumato.tables.expr.expressions import col
from sfumato.tables.query.aggregate import percent

from ..refusing import refusal

TEXTS = {
    "count()": ag.count(),
    "count(x)": ag.count("x"),
    "count(where=x > 1)": ag.count_if(col("x") > 1),
    "count_units()": ag.count_units(),
    "sum(x)": ag.sum("x"),
    "sum(x + 1, low=0, high=0.5)": ag.sum(col("x") + 1, low=0, high="1/2"),
    "mean(x, low=-1, high=1, where=y)": ag.mean("x", low=-1, high=1).filter(col("y")),
    "variance(x)": ag.var("x"),
    "std(x)": ag.std("x"),
    "quantile(x, 0.5, confidence=0.95)": ag.median("x"),
    "quantile(x, 1/3, interval=False)": ag.quantile("x", "1/3", interval=False),
    "histogram(x, edges=[0, 1/3, 2])": ag.histogram("x", edges=[0, "1/3", 2]),
}


@pytest.mark.parametrize("text", TEXTS)
def test_an_aggregate_says_what_it_is(text: str) -> None:
    assert TEXTS[text].text == text


def test_texts_tell_aggregates_apart() -> None:
    """Pieces are shared by name and answers stored by text: two questions with one text would be
    one answer.
    """
    several = [
        *TEXTS.values(),
        ag.quantile("x", "0.5", confidence="0.9"),
        ag.quantile("x", "0.5", interval=False),
        ag.quantile("x", "0.5", low=0, high=1),
        ag.quantile("x", "0.5", low=0, high=2),
        ag.sum("x", low=0, high=1),
        ag.sum("x", low=0, high="1.0000001"),
        ag.histogram("x", edges=[0, "0.3333", 2]),
        ag.count_if(col("x") >= 1),
        ag.count("x").filter(col("x") > 1),
    ]
    assert len({aggregate.text for aggregate in several}) == len(several)


def test_filters_are_joined() -> None:
    both = ag.count_if(col("a")).filter(col("b"))
    assert both.text == "count(where=a AND b)"
    assert ag.sum("x", low=0, high=1).filter(col("a")).high == Fraction(1)
    remaining = ag.quantile("x", "0.9", confidence="0.8", interval=False).filter(col("a"))
    assert (remaining.q, remaining.confidence, remaining.interval) == (
        Fraction(9, 10),
        Fraction(4, 5),
        False,
    )


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: ag.sum("x", low=0), "aggregate.bounds"),
        (lambda: ag.sum("x", high=0), "aggregate.bounds"),
        (lambda: ag.sum("x", low=1, high=1), "aggregate.bounds"),
        (lambda: ag.mean("x", low=2, high=1), "aggregate.bounds"),
        (lambda: ag.mean("x", low=0, high=float("inf")), "number.not-finite"),
        (lambda: ag.mean("x", low=float("nan"), high=1), "number.not-finite"),
        (lambda: ag.quantile("x", 1.5), "number.not-a-probability"),
        (lambda: ag.quantile("x", -0.1), "number.not-a-probability"),
        (lambda: ag.quantile("x", "1/10001"), "aggregate.quantile"),
        (lambda: ag.quantile("x", 0.5, confidence=0), "number.not-a-probability"),
        (lambda: ag.histogram("x", edges=[]), "aggregate.edges"),
        (lambda: ag.histogram("x", edges=[1]), "aggregate.edges"),
        (lambda: ag.histogram("x", edges=[1, 1]), "aggregate.edges"),
        (lambda: ag.histogram("x", edges=[2, 1]), "aggregate.edges"),
        (lambda: ag.histogram("x", edges=range(10_003)), "aggregate.edges"),
        (lambda: ag.histogram("x", edges=[0, float("inf")]), "number.not-finite"),
        (lambda: ag.count().filter("x > 1"), "aggregate.where"),  # type: ignore[arg-type]  # wrong
        (lambda: ag.count_if(True), "aggregate.where"),  # type: ignore[arg-type]  # wrong
        (lambda: ag.sum(5), "expression.column"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_what_is_no_question_is_refused(call: Any, code: str) -> None:
    refusal(call, code)


def test_more_aggregates_as_they_are_written() -> None:
    assert ag.count_distinct("city").text == "count_distinct(city)"
    assert ag.sum("x", weight="w", low=0, high=9).text == "sum(w * x, low=0, high=9)"
    assert ag.ratio("x", "y").text == "ratio(x, y)"
    assert ag.mean("x", weight="w").text == "weighted_mean(x, w)"
    assert ag.min("x").text == "min(x, confidence=0.95)"
    assert (
        ag.max("x", low=0, high=9, confidence=0.9).text == "max(x, low=0, high=9, confidence=0.9)"
    )
    several = ag.quantiles("x", [0.5, "1/3"]).filter(col("v"))
    assert [item.text for item in several] == [
        "percentile(x, 0.5, where=v)",
        "percentile(x, 1/3, where=v)",
    ]
    assert [percent(item.q) for item in several if item.q is not None] == ["50", "100_over_3"]


@pytest.mark.parametrize("levels", [[], [0.5, "1/2"]], ids=["none", "twice"])
def test_several_quantiles_are_one_or_more_each_once(levels: list[Any]) -> None:
    refusal(lambda: ag.quantiles("x", levels), "aggregate.quantile")
