"""Reports: named tables of the same rows, paid once, that agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import sfumato as sf
from sfumato.session import Table

from ..refusing import refusal


@pytest.fixture(scope="module")
def visits() -> Iterator[Table]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=3,
        bounds={"spend": (0, 50)},
        keys={"city": ["Roma", "Bari", "Milano"]},
        budget=sf.ZCDP(100),
    ) as table:
        yield table


def questions(visits: Table) -> dict[str, Any]:
    return {
        "cities": visits.group_by("city").count(),
        "people": "SELECT vip, COUNT(*) AS visits FROM visits GROUP BY vip ORDER BY visits DESC",
        "both": (
            "SELECT age < 40 AS young, city, COUNT(*) AS n FROM visits GROUP BY CUBE (young, city)"
        ),
        "total": visits.count(),
    }


def test_tables_agree_and_are_paid_once(visits: Table) -> None:
    report = sf.report(visits, questions(visits))
    before = visits.spent.rho
    tables = report.release(promise=sf.ZCDP("1/2"))
    assert visits.spent.rho - before <= 0.5
    assert list(tables) == ["cities", "people", "both", "total"]
    total = int(tables["total"].value())
    assert int(tables["cities"]["n"].sum()) == int(tables["people"]["visits"].sum()) == total
    assert int(tables["both"].table().value()) == total
    assert (tables["both"].table("city")["n"] == tables["cities"]["n"]).all()
    assert list(tables["people"]["visits"]) == sorted(tables["people"]["visits"], reverse=True)
    spent = visits.spent
    again = report.release(promise=sf.ZCDP("1/2"))
    assert again["total"].recalled
    assert visits.spent == spent
    assert "cities\ncity" in str(tables)


def test_no_table_is_worse_than_by_itself(visits: Table) -> None:
    plan = sf.report(visits, questions(visits)).plan(promise=sf.ZCDP("1/2"))
    assert isinstance(plan.workload.shares.ratios, dict)
    assert max(plan.workload.shares.ratios.values()) < 1.01


def test_a_list_is_named_by_keys(visits: Table) -> None:
    report = sf.report(visits, [visits.group_by("city").count(), visits.count()])
    assert [each.name for each in report.questions] == ["by city", "total"]


@pytest.mark.parametrize(
    "second",
    [
        lambda v: v.where("vip").count(),
        lambda v: v.aggregate(s=sf.sum("spend")),
        lambda v: v.group_by(city=["Roma"]).count(),
    ],
    ids=["rows", "columns", "keys"],
)
def test_other_rows_columns_or_keys_are_refused(visits: Table, second: Any) -> None:
    with pytest.raises(sf.Refused) as refusal:
        sf.report(visits, {"cities": visits.group_by("city").count(), "second": second(visits)})
    assert refusal.value.code == "report.questions"


def test_a_column_means_the_same_in_all_questions(visits: Table) -> None:
    """A question that gives a column of the table new values, or asks another table, counts other
    rows, though its conditions read the same.
    """
    plain = visits.where("spend > 20").group_by("city").count()
    doubled = visits.mutate(spend=sf.col("spend") * 2).where("spend > 20")
    later = visits.where("spend > 20").mutate(spend=sf.col("spend") * 2)
    for pair in (
        (plain, doubled.count()),
        (doubled.count(), plain),
        (doubled.count(), later.group_by("city").count()),
        (doubled.mutate(late=sf.col("spend") > 30).group_by("late").count(), doubled.count()),
    ):
        refusal(lambda pair=pair: sf.report(visits, list(pair)), "report.questions")
    same = sf.report(visits, [doubled.group_by("city").count(), doubled.count()])
    assert same.query.rows.text == doubled.text


def test_tables_of_a_database_are_told_apart() -> None:
    rows = pd.DataFrame({"id": [1, 2], "kind": [True, False]})
    with sf.protect(
        {"a": rows, "b": rows}, unit="a.id", links={"b.id": "a.id"}, max_rows=1, budget=1
    ) as database:
        first, second = database["a"], database["b"]
        refusal(
            lambda: sf.report(first, [first.group_by("kind").count(), second.count()]),
            "report.questions",
        )


def test_a_report_needs_questions(visits: Table) -> None:
    for nothing in ([], {}, "SELECT COUNT(*) FROM visits"):
        with pytest.raises(sf.Refused):
            sf.report(visits, nothing)
