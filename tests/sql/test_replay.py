"""Record and replay: what SQL hands to the noise moves, between neighbours, by no more than the
noise was fitted to.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.tables.engine.duckdb_engine import DuckDBEngine, copy_rows
from sfumato.testing.exact_checks import Rehearsal

from ..tables.replay import moved
from .described import Describer
from .people import arrow, protected, rows

BY_UNIT = "(SELECT user_id, {} FROM visits GROUP BY {}) AS q"

PER_UNIT = [
    "SELECT COUNT(*) AS n, SUM(CLAMP(s, 0, 500)) AS t FROM "
    + BY_UNIT.format("SUM(spend) AS s", "user_id"),
    (
        "SELECT city, COUNT(*) AS n FROM (SELECT DISTINCT user_id, city FROM visits) AS q "
        "GROUP BY city"
    ),
    "SELECT f, COUNT(*) AS n, AVG(CLAMP(m, 0, 9)) AS a FROM "
    + BY_UNIT.format("MIN(city) AS f, COUNT(*) AS m", "user_id")
    + " GROUP BY f",
    "SELECT COUNT(DISTINCT user_id) AS p, MEDIAN(m) AS h FROM "
    + BY_UNIT.format("city, AVG(age) AS m", "ALL HAVING COUNT(*) > 1")
    + " WHERE m > 22",
    "SELECT HISTOGRAM(k, [0, 1, 2, 9]) AS h FROM "
    + BY_UNIT.format("COUNT(DISTINCT city) AS k, MAX(spend) AS x", "1")
    + " WHERE x > 3 OR x IS NULL",
    "SELECT m, COUNT(*) AS n FROM (SELECT user_id, MAX(n) AS m FROM "
    + BY_UNIT.format("city, COUNT(*) AS n", "ALL")
    + " GROUP BY 1) AS b GROUP BY m",
]


def neighbours(seed: int, relation: str) -> list[dict[str, list[Any]]]:
    """A table, and tables in which one person is not there, or is another."""
    pick, data = random.Random(seed), rows(60)
    result = [data]
    for who in pick.sample(sorted(set(data["user_id"])), 5):
        keep = [i for i, user in enumerate(data["user_id"]) if user != who]
        second = {name: [values[i] for i in keep] for name, values in data.items()}
        if relation == "replace":
            used = pick.choices(range(60), k=pick.randrange(1, 12))
            second = {
                name: values + [who if name == "user_id" else data[name][i] for i in used]
                for name, values in second.items()
            }
        result.append(second)
    return result


def replayed(texts: list[str], seed: int, relation: str, bounding: str) -> int:
    """Ask one engine about a table and each of its neighbours in turn; the number of pairs that
    were compared. The statements of a plan are made once: to make them takes longer than to run
    them.
    """
    data, *others = neighbours(seed, relation)
    with protected(data, relation=relation, bounding=bounding, max_rows=3) as table:
        plans = []
        for text in texts:
            with suppress(Refused):
                plans.append(table.plan(text, epsilon=1, delta="1e-6"))
        rehearsals = [Rehearsal(plan) for plan in plans]
        engine = table._source.engine
        assert isinstance(engine, DuckDBEngine)
        (name,) = engine._frames  # until it is read
        first = [rehearsal.run() for rehearsal in rehearsals]
        for second in others:
            copy_rows(engine.connection, name, arrow(second), "CREATE OR REPLACE TABLE")
            for plan, before, rehearsal in zip(plans, first, rehearsals, strict=True):
                result = moved(plan, before, rehearsal.run())
                assert not result.wrong, (plan.query.text, result.wrong)
    return len(plans) * len(others)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("bounding", ["weights", "truncation"])
def test_sub_queries_by_unit(relation: str, bounding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sfumato.tables.plan.query_plan.secrets.token_hex", lambda size: "00" * size
    )  # neighbours are compared under one key
    assert replayed(PER_UNIT, 5, relation, bounding) == 5 * len(PER_UNIT)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_random_questions(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sfumato.tables.plan.query_plan.secrets.token_hex", lambda size: "00" * size
    )  # neighbours are compared under one key, where COUNT(DISTINCT x) draws values
    describer = Describer(77)
    assert replayed([describer.question().text for _ in range(12)], 9, relation, "weights") >= 40


def test_a_limit_that_is_too_small_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: rows of a sub-query by unit and key, taken for one row of each unit."""
    from sfumato.tables.query.stages import Rows

    plainly = Rows.per_unit
    monkeypatch.setattr(
        Rows, "per_unit", lambda self, keys, totals: replace(plainly(self, keys, totals), once=True)
    )
    monkeypatch.setattr(
        "sfumato.tables.plan.statements.row_weight",
        lambda count, bounding: count * 0 + (1 << bounding.bits),
    )
    with pytest.raises(AssertionError, match="moved by"):
        replayed(
            ["SELECT COUNT(*) AS n FROM (SELECT DISTINCT user_id, city, age FROM visits) AS q"],
            5,
            "add-remove",
            "weights",
        )
