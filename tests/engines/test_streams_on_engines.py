"""Streams on PostgreSQL and Spark measure the integers that they measure on DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow.parquet as pq
import pytest

from sfumato.noise.rounded_normal import RoundedNormal

from ..ledger.servers import PostgresServer
from ..streams.histories import close, open_stream, table_at
from ..streams.test_running_stream import ALWAYS, PROTECTIONS, some_visits

ROWS = table_at([visit._replace(visible=ALWAYS) for visit in some_visits(7, 300)], 9)


@pytest.fixture(autouse=True)
def _without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        RoundedNormal, "sample", lambda self, shape, bits=None: np.zeros(shape, dtype=np.int64)
    )


def measure(rows: Any, name: str) -> list[list[Any]]:
    stream = open_stream(rows, None, **dict(PROTECTIONS[name]))
    stream.advance(until="2026-01-06")
    stream.advance(until="2026-01-10")
    close(stream)
    return [column.tolist() for column in stream._measured]


def test_on_postgres(server: PostgresServer) -> None:
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute('CREATE TABLE visits ("user" bigint, city text, spend bigint, day date)')
        with connection.cursor() as cursor, cursor.copy("COPY visits FROM STDIN") as copy:
            for row in ROWS.to_pylist():
                copy.write_row(list(row.values()))
        connection.execute("GRANT SELECT ON visits TO reader")
    for name in PROTECTIONS:
        assert measure(url.replace("postgres@", "reader@"), name) == measure(ROWS, name)


@pytest.mark.java
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_on_spark(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(ROWS, folder / "part.parquet")
    frame = spark.read.parquet(str(folder))
    assert measure(frame, "first days") == measure(ROWS, "first days")
