"""Fluent queries as SQL: the plan of the text is the plan of the query, and both hand the same
integers to the noise.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.client import to_sql
from sfumato.client.roundtrip import meaning_of_query
from sfumato.client.sql_forms import expression_sql
from sfumato.client.to_sql import LONGEST, query_to_sql
from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.tables.aggregates import KINDS
from sfumato.tables.expr.expressions import ColumnRef, call, literal
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query
from sfumato.testing.exact_checks import through_the_door

from ..sql.described import Describer
from ..sql.people import protected

PARTS, EACH = 4, 20


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    with protected() as protected_table:
        yield protected_table


def question(describer: Describer, table: Table) -> Query:
    """A query in more steps than one SELECT has: conditions one after the other, columns made, made
    again and made of each other.
    """
    pick, rows = describer.pick, table.rows
    for _ in range(pick.randrange(3)):
        rows = rows.where(describer.condition(2)[1])
    if pick.random() < 0.5:
        rows = rows.mutate(made=describer.number(1)[1]).mutate(twice=sf.col("made") * 2)
    if pick.random() < 0.3:
        rows = rows.mutate(age=sf.col("age") // 2 + 1, city=sf.col("city").upper())
    if pick.random() < 0.4:
        rows = rows.where(
            sf.col("twice") > pick.randrange(50)
            if "twice" in rows.schema
            else sf.col("age") % 3 == 1
        )
    aggregates = {f"a{i}": describer.aggregate()[1] for i in range(1 + pick.randrange(3))}
    if "twice" in rows.schema:
        aggregates["t"] = sf.sum("twice")
    keys = [("city",), ("vip", "city"), (), ("decade",), ("month",)][pick.randrange(5)]
    if keys == ("decade",):
        rows = rows.mutate(decade=sf.col("age") // 10)
    if keys == ("month",):
        return rows.group_by(
            month=sf.calendar("day", "month", "2026-01-15", "2026-03-01")
        ).aggregate(**aggregates)
    return rows.group_by(*keys).aggregate(**aggregates) if keys else rows.aggregate(**aggregates)


def planned(table: Table, query_or_text: Any) -> Plan | str:
    try:
        plan: Plan = table.plan(query_or_text, epsilon=1)
    except Refused as refusal:
        return refusal.code
    return plan


def written_out(query: Query, table: Table) -> Query:
    """The same without made columns, but for keys: a column that was computed has lost between
    which ends its parts lie, an expression has not.
    """
    meaning, rows, public = meaning_of_query(query), table.rows, {}
    if meaning.conditions:
        rows = rows.where(
            meaning.conditions[0]
            if len(meaning.conditions) == 1
            else call("and", *meaning.conditions)
        )
    for shown, expression, domain in meaning.keys:
        rows = (
            rows
            if isinstance(expression, ColumnRef) and expression.name == shown
            else rows.mutate(**{shown if shown not in rows.schema else f"{shown}_2": expression})
        )
        public |= {shown: domain} if shown == "month" and domain else {}
    listed = [
        shown
        if isinstance(expression, ColumnRef) or shown not in table.rows.schema
        else f"{shown}_2"
        for shown, expression, _ in meaning.keys
    ]
    return rows.group_by(*listed, **public).aggregate(**dict(meaning.aggregates))


def same(first_plan: Plan, second_plan: Plan, text: str) -> None:
    assert repr(first_plan.mechanism) == repr(second_plan.mechanism), text
    assert first_plan.cost == second_plan.cost
    assert first_plan.kinds == second_plan.kinds
    assert first_plan.error() == second_plan.error()
    assert first_plan.query.domains == second_plan.query.domains


def same_integers(first_plan: Plan, second_plan: Plan, text: str) -> None:
    """What reaches the noise, of the same rows."""
    first, second = through_the_door(first_plan), through_the_door(second_plan)
    assert list(first.groups.rows) == list(second.groups.rows), text
    assert len(first.pieces) == len(second.pieces)
    for mine, its in zip(first.pieces, second.pieces, strict=True):
        assert np.array_equal(mine.values, its.values), text
        assert mine.step == its.step


@pytest.mark.parametrize("part", range(PARTS))
def test_random_queries_and_their_texts_have_one_plan(table: Table, part: int) -> None:
    compare(table, 7000 + part, EACH)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_more_random_queries(table: Table, part: int) -> None:
    compare(table, 8000 + part, 50 * EACH)


def questions_of(plan: Plan) -> dict[str, str]:
    """The kinds of the columns. A column written out in SQL may have other bounds than its steps
    have, and then a quantile may be read from a tree instead: the same question.
    """
    return {name: "quantile" if kind == "percentile" else kind for name, kind in plan.kinds.items()}


def compare(table: Table, seed: int, count: int) -> None:
    """So many queries, against their texts."""
    describer, refused, equal = Describer(seed), 0, 0
    for i in range(count):
        query = question(describer, table) if i % 2 else describer.question().fluent(table)
        mine = planned(table, query)
        if isinstance(mine, str):
            refused += 1
            continue
        text = query_to_sql(query)
        its = planned(table, text)
        assert not isinstance(its, str), text
        plain = planned(table, written_out(query, table))
        assert isinstance(plain, Plan)
        assert plain.query.text == its.query.text
        same(plain, its, text)
        assert mine.cost == its.cost
        assert questions_of(mine) == questions_of(its)
        if all(step.column in (None, *query.keys) for step in query.rows.steps):
            same(mine, its, text)
            equal += 1
        if i % 10 == 0 and not any(column.kind == "count_distinct" for column in mine.columns):
            same_integers(mine, its, text)
    assert refused <= count // 5
    assert equal >= count // 2


def test_a_wrong_text_would_be_seen(table: Table) -> None:
    """The twin: one sign differs, and plan or integers tell."""
    query = table.where(sf.col("age") >= 30).aggregate(n=sf.count())
    wrong = query_to_sql(query).replace(">=", ">")
    with pytest.raises(AssertionError):
        same_integers(planned(table, query), planned(table, wrong), wrong)


def test_a_wrong_text_is_never_sent(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other twin: a form that says another thing is caught by reading it back."""
    monkeypatch.setattr(
        to_sql, "expression_sql", lambda written: expression_sql(written).replace(">=", ">")
    )
    with pytest.raises(Refused) as caught:
        query_to_sql(table.where(sf.col("age") >= 30).aggregate(n=sf.count()))
    assert caught.value.code == "client.spelling"


EVERY: dict[str, Aggregate | tuple[Aggregate, ...]] = {
    "rows": sf.count(),
    "values": sf.count("spend"),
    "grown": sf.count_if(sf.col("age") >= 18),
    "people": sf.count_units(),
    "cities": sf.count_distinct("city"),
    "total": sf.sum("spend"),
    "weighted": sf.sum("spend", weight="age"),
    "mean": sf.mean("amount", low="0.25", high=7),
    "share": sf.ratio("spend", "age", low=0, high=50),
    "by_age": sf.mean("spend", weight="age"),
    "spread": sf.var("age"),
    "deviation": sf.std("age"),
    "middle": sf.median("spend"),
    "ninth": sf.quantile("spend", "0.9", low=-1, high=99).filter(sf.col("vip")),
    "least": sf.min("age"),
    "most": sf.max("amount", low=0, high=10),
    "p": sf.quantiles("age", ["0.25", "0.5"]),
    "bars": sf.histogram("age", edges=[-1, 0.5, 60, 120]),
    "younger": sf.cumulative("age", edges=[0, 18, 65, 120]).filter(sf.col("vip")),
    "both": sf.covar("age", "spend"),
    "sampled": sf.covar("age", sf.col("spend").clip(0, 9), sample=True, low=0, high=9),
    "related": sf.corr("age", "spend").filter(sf.col("vip")),
    "slope": sf.regr_slope("spend", "age"),
    "intercept": sf.regr_intercept("amount", sf.col("age").clip(0, 9), low=0, high=50),
    "explained": sf.regr_r2("spend", "age").filter(sf.col("vip")),
    "pairs": sf.regr_count("amount", "age"),
    "mean_x": sf.regr_avgx("amount", "age"),
    "mean_y": sf.regr_avgy("amount", "age", low=0, high=9),
    "sample_spread": sf.var("age", sample=True),
    "sample_deviation": sf.std("age", sample=True, low=0, high=9),
}


def test_every_aggregate(table: Table) -> None:
    query = table.where("vip OR age > 3").group_by("city").aggregate(**EVERY)
    text = query_to_sql(query)
    same(planned(table, query), planned(table, text), text)
    forms = {(aggregate.kind, aggregate.beyond) for _, aggregate in query.aggregates}
    assert forms == {
        (kind.name, beyond) for kind in KINDS.values() for beyond in ("", *kind.client_beyond)
    }
    assert {aggregate.of is None for _, aggregate in query.aggregates} == {True, False}


def test_the_text(table: Table) -> None:
    rows = (
        table.where(table["age"] >= 18).where("city <> 'Bari'").mutate(decade=sf.col("age") // 10)
    )
    query = rows.group_by("decade").aggregate(
        n=sf.count(), mean=sf.mean("spend", low=0, high="12.5")
    )
    assert query_to_sql(query) == (
        "SELECT FLOOR_DIV(age, 10) AS decade, COUNT(*) AS n, AVG(CLAMP(spend, 0, 12.5)) "
        "AS mean FROM visits WHERE (age >= 18) AND (city <> 'Bari') GROUP BY 1"
    )


@pytest.mark.parametrize(
    ("of", "unit", "first", "last"),
    [
        ("day", "week", "2026-01-01", "2026-03-01"),
        ("at", "hour", "2026-01-01T05:30", "2026-01-02"),
        ("day", "year", datetime.date(2025, 5, 1), "2026-01-01"),
    ],
)
def test_calendars(table: Table, of: str, unit: str, first: Any, last: Any) -> None:
    query = table.group_by(bucket=sf.calendar(of, unit, first, last)).aggregate(n=sf.count())
    text = query_to_sql(query)
    assert "CALENDAR(" in text
    same(planned(table, query), planned(table, text), text)
    same_integers(planned(table, query), planned(table, text), text)


def test_names_that_are_words_of_sql(table: Table) -> None:
    query = (
        table.mutate(order=sf.col("age") + 1)
        .group_by("vip")
        .aggregate(group=sf.count(), **{"a b": sf.sum("order"), 'q"': sf.count()})
    )
    text = query_to_sql(query)
    assert planned(table, text).kinds == {"group": "count", "a b": "sum", 'q"': "count"}


def test_bounds_that_are_to_be_learned_change_no_text() -> None:
    with protected(bounds={}, max_rows=None) as bare, protected() as declared:
        for table in (bare, declared):
            query = (
                table.where(sf.col("age") > 3)
                .group_by("city")
                .aggregate(m=sf.mean("spend"), t=sf.sum(sf.col("age") * 2))
            )
            assert query_to_sql(query) == (
                "SELECT city AS city, AVG(spend) AS m, SUM(age * 2) AS t FROM visits "
                "WHERE age > 3 GROUP BY 1"
            )


def test_declared_keys_may_be_given_again(table: Table) -> None:
    query = table.group_by(city=["Milano", "Bari", "Roma"]).aggregate(n=sf.count())
    assert query_to_sql(query) == "SELECT city AS city, COUNT(*) AS n FROM visits GROUP BY 1"


MONTHS = [datetime.date(2026, 1, 1), datetime.date(2026, 3, 1)]
UNSAID: dict[str, Callable[[Table], Query]] = {
    "other keys": lambda t: t.group_by(city=["Roma"]).aggregate(n=sf.count()),
    "keys of an expression": lambda t: (
        t.mutate(d=sf.col("age") // 10).group_by(d=[1, 2]).aggregate(n=sf.count())
    ),
    "some months": lambda t: (
        t.mutate(m=sf.col("day").date_trunc("month")).group_by(m=MONTHS).aggregate(n=sf.count())
    ),
    "a quantile alone": lambda t: t.aggregate(q=sf.quantile("age", 0.5, interval=False)),
    "another level": lambda t: t.aggregate(q=sf.quantile("age", 0.5, confidence=0.9)),
    "a third": lambda t: t.aggregate(q=sf.quantile("age", "1/3")),
    "a decimal": lambda t: t.where(sf.col("amount") > Decimal("0.5")).aggregate(n=sf.count()),
    "one of several quantiles": lambda t: t.aggregate(q=sf.quantiles("age", [0.5])[0]),
    "a union": lambda t: t.union(t).aggregate(n=sf.count()),
    "rows of each unit": lambda t: t.rows.per_unit({}, {}).aggregate(n=sf.count()),
    "a long list": lambda t: t.where(sf.col("city").is_in(["x" * 4000] * 3)).aggregate(
        n=sf.count()
    ),
    "a constant counted": lambda t: t.aggregate(n=sf.count(literal(1))),
}


@pytest.mark.parametrize("name", UNSAID)
def test_what_sql_cannot_say_is_refused(table: Table, name: str) -> None:
    with pytest.raises(Refused) as caught:
        query_to_sql(UNSAID[name](table))
    assert caught.value.code == "client.spelling"
    assert caught.value.reason
    assert caught.value.rewrite


def test_without_a_unit_people_are_rows() -> None:
    with protected(unit=None, max_rows=1) as table, pytest.raises(Refused) as caught:
        query_to_sql(table.aggregate(n=sf.count_units()))
    assert caught.value.code == "client.spelling"


def test_the_longest_text() -> None:
    assert LONGEST == 10_000


def test_the_meaning_knows_no_made_names(table: Table) -> None:
    with_column = table.mutate(x=sf.col("age") + 1).where(sf.col("x") > 3).aggregate(n=sf.sum("x"))
    inlined = table.where(sf.col("age") + 1 > 3).aggregate(n=sf.sum(sf.col("age") + 1))
    assert meaning_of_query(with_column).texts == meaning_of_query(inlined).texts
