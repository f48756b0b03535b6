"""What a query means, whatever its columns were called on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sfumato as sf
from sfumato.client.roundtrip import QueryMeaning, meaning_of_query, meaning_of_text
from sfumato.session import Table
from sfumato.sql import read

from ..sql.people import protected, unasked


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    with unasked(protected()) as protected_table:
        yield protected_table


def test_made_columns_are_written_out(table: Table) -> None:
    with_columns = (
        table.mutate(x=sf.col("age") + 1)
        .mutate(y=sf.col("x") * 2, x=sf.col("x") - 1)
        .where((sf.col("y") > 3) & sf.col("vip"))
        .aggregate(n=sf.sum("x"))
    )
    inlined = (
        table.where((sf.col("age") + 1) * 2 > 3)
        .where("vip")
        .aggregate(n=sf.sum(sf.col("age") + 1 - 1))
    )
    assert meaning_of_query(with_columns).texts == meaning_of_query(inlined).texts


def test_a_text_means_its_query(table: Table) -> None:
    query = (
        table.mutate(decade=sf.col("age").div(10))
        .group_by("decade", "city")
        .aggregate(n=sf.count())
    )
    text = "SELECT age // 10 AS decade, city, COUNT(*) AS n FROM visits GROUP BY 1, 2"
    assert meaning_of_text(read(text, table.rows)).texts == meaning_of_query(query).texts


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city, COUNT(*) AS m FROM visits GROUP BY city",
        "SELECT city AS town, COUNT(*) AS n FROM visits GROUP BY city",
        "SELECT city, COUNT(age) AS n FROM visits GROUP BY city",
        "SELECT city, COUNT(*) AS n FROM visits WHERE vip GROUP BY city",
        "SELECT vip AS city, COUNT(*) AS n FROM visits GROUP BY vip",
        "SELECT city, COUNT(*) AS n, COUNT(*) AS m FROM visits GROUP BY city",
    ],
)
def test_what_differs_is_seen(table: Table, text: str) -> None:
    assert (
        meaning_of_text(read(text, table.rows)).texts
        != meaning_of_query(table.group_by("city").aggregate(n=sf.count())).texts
    )


@pytest.mark.parametrize(
    "more",
    [
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT 2",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 2",
        "SELECT city, COUNT(*) + 1 AS n FROM visits GROUP BY city",
        "SELECT COUNT(*) AS n FROM (SELECT user_id FROM visits GROUP BY user_id) AS t",
    ],
)
def test_what_does_more_means_nothing_here(table: Table, more: str) -> None:
    assert meaning_of_text(read(more, table.rows)).texts == QueryMeaning().texts
