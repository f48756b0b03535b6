"""Hierarchies of places, first rows of units, and the counts of a census: PostgreSQL and Spark hand
the noise the integers that DuckDB does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.testing.exact_checks import through_the_door

from ..ledger.servers import PostgresServer
from .conftest import SPARK

PLACES = sf.hierarchy(
    "state",
    "county",
    places={"A": ["Lake", "Hill"], "B": ["Lake"], "C": []},
    keyed_by="path",
)
SEXES = {"sex": ["f", "m"]}
NAMES = ("who", "state", "county", "sex")
RANDOM = np.random.default_rng(4)
ROWS = [
    (
        int(RANDOM.integers(60)),
        str(RANDOM.choice(["A", "B", "C"])),
        [None, "Lake", "Hill"][RANDOM.integers(3)],
        [None, "f", "m"][RANDOM.integers(3)],
    )
    for _ in range(300)
]
Open = Callable[[], Table]


def frame() -> pa.Table:
    return pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})


def protect(source: Any, **options: Any) -> Table:
    return sf.protect(
        source,
        name="people",
        unit="who",
        max_rows=4,
        budget=sf.ZCDP(9),
        keys={("state", "county"): PLACES, **SEXES},
        **options,
    )


def tallies(table: Table) -> list[list[int]]:
    """Everything that reaches the noise of two group-bys and a census."""
    with table:
        numbered = table.number_rows("k", ["county", "sex"], descending=True)
        first = numbered.where(numbered["k"] == 1)
        second = numbered.number_rows("of_state", "sex", within="state").where("of_state = 2")
        plans = [
            first.group_by("state", "sex").count().plan(promise=sf.ZCDP(1)),
            second.group_by("state", "sex").count().plan(promise=sf.ZCDP(1)),
            table.group_by("county", "state").count().plan(promise=sf.ZCDP(1)),
            table.group_by("state", "county", "sex").agg(n=sf.count()).plan(promise=sf.ZCDP(1)),
        ]
        integers = [
            values.ravel().tolist()
            for plan in plans
            for call in through_the_door(plan).calls
            for values in call.integers
        ]
        census = sf.plan_census(table, geography=["state", "county"], cells=["sex"], rho=1)
        tally = census.source.engine.tally(census.statement)
        return [*integers, *(each.ravel().tolist() for each in census.counts.count(tally))]


@pytest.fixture(scope="module")
def expected() -> list[list[int]]:
    numbers = tallies(protect(frame()))
    assert sum(map(len, numbers)) > 20
    assert all(any(each) for each in numbers)
    return numbers


def test_postgres_counts_the_same(server: PostgresServer, expected: list[list[int]]) -> None:
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (who bigint, state text, county text, sex text)")
        connection.execute("GRANT SELECT ON people TO reader")
        with connection.cursor() as cursor, cursor.copy("COPY people FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row(row)
    assert tallies(protect(url.replace("postgres@", "reader@"), table="people")) == expected


class TestSpark:
    """On a cluster with two workers."""

    pytestmark = SPARK

    def test_spark_counts_the_same(
        self, spark: Any, tmp_path: Path, expected: list[list[int]]
    ) -> None:
        pq.write_table(frame(), tmp_path / "people.parquet")
        assert tallies(protect(spark.read.parquet(str(tmp_path)))) == expected
