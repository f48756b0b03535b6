"""The least cost of a release: it bounds how many there are, in the currency of every budget, and
what is offered instead passes.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.ledger.exact_totals import ratios
from sfumato.ledger.pricing import price
from sfumato.server.http.request_models import read
from sfumato.server.least_cost import ROUNDING, least, part_of, refuse_below

DELTA = Fraction(1, 10**6)
BUDGETS = [
    sf.Pure("1/3"),
    sf.Approx(1, DELTA),
    sf.ZCDP("0.5"),
    sf.ZCDP("0.7", DELTA),
    sf.GDP("1.3"),
    sf.Renyi({2: 1, 8: 3, 32: 9}),
    sf.Renyi({2: 1, 8: 3}, DELTA),
]
TEXTS = [
    "SELECT COUNT(*) AS c FROM v",
    "SELECT k, COUNT(*) AS c, AVG(x) AS m, STDDEV(x) AS s FROM v GROUP BY k",
    "SELECT MEDIAN(x) AS q FROM v",
    "SELECT QUANTILES(x, [0.1, 0.5, 0.9]) AS q FROM v",
    "SELECT k, HISTOGRAM(x, [0, 10, 50, 100]) AS h FROM v GROUP BY k",
    "SELECT t, COUNT(*) AS c FROM v GROUP BY t",  # whose groups are selected, which takes a δ
]
ROWS = pa.table({"u": [1, 2], "x": [1.0, 2.0], "k": ["a", "b"], "t": ["c", "d"]})


def table(budget: sf.Guarantee) -> Any:
    return sf.protect(
        ROWS,
        name="v",
        unit="u",
        budget=budget,
        max_rows=4,
        bounds={"x": (0, 100)},
        keys={"k": ["a", "b"]},
    )


def part(private_table: Any, plan: Any) -> Fraction:
    return part_of(
        private_table.ledger.budget, ratios(price(private_table.ledger.budget, (plan.mechanism,)))
    )


def asks(private_table: Any, arguments: dict[str, Any], most: int) -> int:
    """How many different questions are answered, of so many."""
    for place in range(most):
        try:
            private_table.sql(f"SELECT COUNT(*) AS c{place} FROM v", **arguments)
        except sf.BudgetExceeded:
            return place
    return most


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("releases", [1000, 37])
def test_what_is_offered_passes(budget: sf.Guarantee, releases: int) -> None:
    """Pasted into the body of a question in place of its epsilon, within or promise."""
    with table(budget) as private_table:
        for text in TEXTS:
            body = (
                json.dumps({"sql": text})[:-1]
                + f", {least(private_table.ledger.budget, releases)}}}"
            )
            question = read(body.encode())
            if "GROUP BY t" in text and not budget.parameters.get(
                "delta", 0
            ):  # a selection needs a δ, and such a budget has none to give
                continue
            plan = private_table.plan(text, **question.plan_arguments())
            refuse_below(private_table.ledger.budget, part(private_table, plan), releases)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_budget_bounds_the_number_of_releases(budget: sf.Guarantee) -> None:
    """An analyst read exact bits for ε = 10⁻⁶ a question: the number of questions was bounded by
    nothing. The least part, so often, is the whole budget.
    """
    releases = 25
    with table(budget) as private_table:
        arguments = read(
            f'{{"sql": "{TEXTS[0]}", {least(private_table.ledger.budget, releases)}}}'.encode()
        ).plan_arguments()
        once = part(private_table, private_table.plan(TEXTS[0], **arguments))
        assert once * releases >= ROUNDING
        answered = asks(private_table, arguments, 2 * releases)
        assert answered <= releases / ROUNDING


@pytest.mark.parametrize(
    "how",
    [
        {"epsilon": "1e-6"},
        {"within": "1e9"},
        {"promise": sf.Pure("1e-6")},
        {"promise": sf.Approx("1e-6", "1e-9")},
    ],
    ids=str,
)
def test_less_is_refused(how: dict[str, Any]) -> None:
    with table(sf.Approx(1, DELTA)) as private_table:
        took = part(private_table, private_table.plan(TEXTS[0], **how))
        with pytest.raises(Refused) as caught:
            refuse_below(private_table.ledger.budget, took, 1000)
        assert caught.value.code == "server.least"
        assert caught.value.rewrite == '"epsilon": "0.001"'
        assert "1/1000" in caught.value.reason


def test_only_what_a_release_must_take_counts() -> None:
    """δ does not count, or a release that spends δ alone would pass; where the budget is nothing
    but δ, it is what there is.
    """
    budget = sf.Approx(1, DELTA)
    assert part_of(budget, ((0, 1), (1, 10**6))) == 0
    assert part_of(budget, ((1, 1000), (0, 1))) == Fraction(1, 1000)
    assert part_of(sf.Renyi({2: 1, 4: 2}), ((1, 10), (1, 10), (0, 1))) == Fraction(
        3, 40
    )  # the mean of 1/10 and 1/20
