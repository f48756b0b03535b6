"""What the steps of a synthetic table count: PostgreSQL hands the noise the integers that DuckDB
does.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.testing import SeededBits

from ..ledger.servers import PostgresServer
from ..synth.steps import run

RANDOM = np.random.default_rng(4)
ROWS = [
    (
        int(RANDOM.integers(60)),
        [None, "Bari", "Roma", "Oslo"][RANDOM.integers(4)],
        [None, False, True][RANDOM.integers(3)],
        [None, *range(-5, 130)][RANDOM.integers(136)],
        [None, float("nan"), -1.0, 2.0, *RANDOM.random(9).tolist()][RANDOM.integers(13)],
        date(2024, 1, 1) + timedelta(days=int(RANDOM.integers(100))),
    )
    for _ in range(300)
]
NAMES = ("who", "city", "vip", "age", "part", "day")


def protect(source: Any, **options: Any) -> Table:
    return sf.protect(
        source,
        name="visits",
        unit="who",
        max_rows=4,
        budget=sf.ZCDP(99),
        keys={"city": ["Bari", "Roma"]},
        bounds={"age": (0, 120), "part": (0, 1)},
        **options,
    )


def counted(table: Table) -> list[list[int]]:
    """Every exact integer of all steps, with the same noise."""
    with table:
        rows = table.where("day >= DATE '2024-01-10' AND day < DATE '2024-03-10'")
        plan = sf.plan_synthesis(rows, promise=sf.ZCDP(50), bins={"age": [0, 18, 65, 120]})
        steps = run(plan, bits=SeededBits(1)).exact
        assert len(steps) == 4
        return [each.ravel().tolist() for step in steps for each in step]


@pytest.fixture(scope="module")
def expected() -> list[list[int]]:
    return counted(
        protect(pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}))
    )


def test_postgres_counts_the_same(server: PostgresServer, expected: list[list[int]]) -> None:
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits (who bigint, city text, vip boolean, age bigint, "
            "part double precision, day date)"
        )
        connection.execute("GRANT SELECT ON visits TO reader")
        with connection.cursor() as cursor, cursor.copy("COPY visits FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row(row)
    assert counted(protect(url.replace("postgres@", "reader@"), table="visits")) == expected
