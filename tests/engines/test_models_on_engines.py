"""PostgreSQL and Spark read the codes and weights of a model that DuckDB reads: by keys that a
statement lists and keys that it joins, by cells and by edges, with values of every kind missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

from ..ledger.servers import PostgresServer

RANDOM = np.random.default_rng(12)
NAMES = ("who", "city", "district", "vip", "age", "part")
ROWS = [
    (
        int(RANDOM.integers(60)),
        [None, "Bari", "Roma", "Oslo"][RANDOM.integers(4)],
        [None, *range(200)][RANDOM.integers(201)],
        [None, False, True, True][RANDOM.integers(4)],
        [None, *range(-5, 130)][RANDOM.integers(136)],
        [None, float("nan"), -1.0, 2.0, 0.25, *RANDOM.random(9).tolist()][RANDOM.integers(14)],
    )
    for _ in range(300)
]
TABLE = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})


def lines(source: Any, **options: Any) -> list[tuple[int, ...]]:
    """Return what an engine reads, in order of the codes."""
    with sf.protect(
        source, name="visits", unit="who", max_rows=4, budget=sf.GDP(9), **options
    ) as table:
        model = sf.learn.AdditiveClassifier(
            epsilon=1,
            delta=1e-6,
            bounds={"age": (0, 120), "part": [0, 0.25, 0.5, 1]},
            keys={"city": ["Bari", "Roma", None], "district": range(0, 198, 2)},
        )
        plan = model.plan(table, target="vip", features=["city", "district", "age", "part"])
        tally = plan.source.engine.tally(plan.statements[0])
        columns = [tally.column(name).to_pylist() for name in sorted(tally.column_names)]
        return sorted(zip(*columns, strict=True))


@pytest.fixture(scope="module")
def expected() -> list[tuple[int, ...]]:
    read = lines(TABLE)
    assert len(read) == sum(row[3] is not None for row in ROWS)
    assert len(set(read)) > 100
    return read


def test_postgres_reads_the_same(server: PostgresServer, expected: list[tuple[int, ...]]) -> None:
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits (who bigint, city text, district bigint, vip boolean, "
            "age bigint, part double precision)"
        )
        connection.execute("GRANT SELECT ON visits TO reader")
        with connection.cursor() as cursor, cursor.copy("COPY visits FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row(row)
    assert lines(url.replace("postgres@", "reader@"), table="visits") == expected


@pytest.mark.java
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_spark_reads_the_same(spark: Any, tmp_path: Path, expected: list[tuple[int, ...]]) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(TABLE, folder / "part.parquet")
    assert lines(spark.read.parquet(str(folder))) == expected
