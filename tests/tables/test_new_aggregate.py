"""A new aggregate is one record: planning, SQL, the fluent form, the client, answers, cards, the
server's sample and its page all read it from the registry.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import sfumato as sf
from sfumato.answers import Answer, card_schema
from sfumato.client.to_sql import query_to_sql
from sfumato.server.http.asgi_app import _aggregates
from sfumato.server.plan_views import _middle
from sfumato.session import Table
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates import KINDS
from sfumato.tables.aggregates.column_kind import BoxEnd, SqlCall
from sfumato.tables.expr.expressions import as_expr
from sfumato.tables.query.aggregate import Aggregate, bounds_of

from ..answers.schema import problems
from ..refusing import refusal


def doubled(of: Any, *, low: Any = None, high: Any = None) -> Aggregate:
    """Twice the sum of a column."""
    return Aggregate("doubled", as_expr(of), None, *bounds_of(low, high))


def _finish(numbers: Any, boxes: Any, side: Any) -> BoxEnd:
    end = KINDS["sum"].finish(numbers, boxes, side)
    return BoxEnd(end.ratios._replace(top=2 * end.ratios.top))


DOUBLED = replace(
    KINDS["sum"],
    name="doubled",
    finish=_finish,
    error=lambda _, widths, __: 2 * widths[0],
    calls=(SqlCall("DOUBLED", "twice the total", "column", doubled, names=("doubled",)),),
    client="DOUBLED({of})",
    about="twice the sum",
    example="doubled('x')",
)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    monkeypatch.setitem(KINDS, "doubled", DOUBLED)
    frame = pd.DataFrame({"u": range(100), "x": [i % 10 for i in range(100)]})
    options: Any = {"name": "t", "unit": "u", "max_rows": 1, "bounds": {"x": (0, 9)}}
    with sf.protect(frame, **options, budget=sf.Pure(10**6)) as protected:
        yield protected


def test_it_is_asked_in_both_forms(table: Table) -> None:
    query = table.aggregate(d=doubled("x"), s=ag.sum("x"))
    for answer in (
        query.release(epsilon=10**4),
        table.sql("SELECT DOUBLED(x) AS d, SUM(x) AS s FROM t", epsilon=10**4),
    ):
        assert answer["d"][0] == 2 * answer["s"][0]
        assert answer["d"][0] == pytest.approx(900, abs=1)
        low, high = answer.interval("d")
        assert low[0] <= 900 <= high[0]
    text = query_to_sql(query)
    assert text == "SELECT DOUBLED(x) AS d, SUM(x) AS s FROM t"
    half = table.sql(
        "SELECT DOUBLED(CLAMP(x, 0, 5)) FILTER (WHERE x > 4) AS d FROM t", epsilon=10**4
    )
    assert half["d"][0] == pytest.approx(500, abs=1)


def test_it_is_planned_and_computed_with(table: Table) -> None:
    plan: Any = table.plan("SELECT DOUBLED(x) AS d, DOUBLED(x) / COUNT(*) AS m FROM t", epsilon=1)
    sum_plan: Any = table.plan("SELECT SUM(x) AS d, SUM(x) / COUNT(*) AS m FROM t", epsilon=1)
    assert plan.error()["d"] == pytest.approx(2 * sum_plan.error()["d"])
    assert plan.error()["m"] > sum_plan.error()["m"]
    assert "error   d ± " in plan.explain()
    within: Any = table.plan("SELECT DOUBLED(x) AS d FROM t", within=10)
    assert within.error()["d"] <= 10
    assert _middle(plan.columns[0], 1000) == 4500


def test_it_is_stored_carded_and_ranked(table: Table) -> None:
    answer = table.group_by(x=[0, 1, 2]).aggregate(d=doubled("x")).release(epsilon=100)
    restored = Answer.from_json(answer.to_json())
    assert restored["d"].tolist() == answer["d"].tolist()
    wrong = problems(answer.card().to_dict(), card_schema())
    assert not [problem for problem in wrong if "columns" in problem]
    assert answer.top(1, "d").rows == ((2,),)
    assert "doubled" in sf.answers.KINDS


def test_it_is_listed(table: Table) -> None:
    refused = refusal(lambda: table.sql("SELECT KURTOSIS(x) FROM t", epsilon=1), "sql.aggregate")
    assert "DOUBLED" in refused.reason
    page = bytes(asyncio.run(_aggregates()).body).decode()
    assert '["DOUBLED(", "twice the total"]' in page


def test_without_the_record_nothing_knows_it() -> None:
    with sf.protect(pd.DataFrame({"x": [1]}), name="t", budget=1) as table:
        refusal(lambda: table.sql("SELECT DOUBLED(x) FROM t", epsilon=1), "sql.function")


def test_every_record_has_an_example_of_its_kind() -> None:
    for kind in KINDS.values():
        built: Any = eval(kind.example, {"sf": sf})
        aggregates = built if isinstance(built, tuple) else (built,)
        assert {aggregate.kind for aggregate in aggregates} == {kind.name}
        assert kind.about
