"""Cells that are computed when they are read: left out, or refused with their view; and what is stored beside them is read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import ibis
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables.sources import open_source
from sfumato.tables.volatile import REASON, drawn, generated

CHANGING = ["random()", "now()", "nextval('s')", "uuid()", "m(a)", "a + 1"]


def _database(path: Path | str, column: str) -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(str(path))
    made.execute("CREATE SEQUENCE s; CREATE MACRO m(x) AS x + random()")
    made.execute(f"CREATE TABLE visits(u INTEGER, a INTEGER, b VARCHAR{column})")
    made.execute("INSERT INTO visits(u, a, b) SELECT i, i, 'x' FROM range(10) AS t(i)")
    return made


@pytest.mark.parametrize("expression", CHANGING)
def test_generated_columns_of_a_file_are_left_out(expression: str, tmp_path: Path) -> None:
    """Whoever names one is told why; what is stored answers, also where the generated one could not even be computed here."""
    path = tmp_path / "clinic.duckdb"
    _database(path, f", g AS ({expression})").close()
    with pytest.raises(Refused) as refused:
        sf.protect(f"{path}::visits", unit="g", max_rows=1, budget=1)
    assert refused.value.reason == REASON
    with sf.protect(f"{path}::visits", unit="u", max_rows=1, bounds={"a": (0, 10)}, budget=10) as table:
        assert "g" not in table.declaration.schema
        assert len(table.aggregate(n=sf.count(), total=sf.sum("a")).release(epsilon=1)) == 1
        with pytest.raises(Refused):
            table.group_by("g")


def test_defaults_are_stored(tmp_path: Path) -> None:
    """A default is a value that was stored; beside a generated column it cannot be told from one, and is left out as well."""
    for column, read in ((", d INTEGER DEFAULT 7", ["u", "a", "b", "d"]), (", d INTEGER DEFAULT 7, g AS (a + 1)", ["u", "a", "b"])):
        path = tmp_path / f"{len(column)}.duckdb"
        _database(path, column).close()
        source = open_source(f"{path}::visits")
        assert list(source.schema) == read
        source.engine.close()


def test_generated_columns_of_a_lent_connection_are_left_out() -> None:
    connection = _database(":memory:", ", g AS (random())")
    assert generated(connection, "memory", "main", "visits") == {"g": REASON}
    source = open_source(ibis.duckdb.from_connection(connection).table("visits"))
    assert list(source.schema) == ["u", "a", "b"]
    assert source.left_out == {"g": REASON}


VIEWS = {
    "random": "CREATE VIEW v AS SELECT u, random() AS r FROM visits",
    "current_date": "CREATE VIEW v AS SELECT u, CURRENT_DATE AS today FROM visits",
    "now": "CREATE VIEW w AS SELECT u, now() AS n FROM visits; CREATE VIEW v AS SELECT * FROM w",
    "uuid": "CREATE MACRO f(x) AS uuid(); CREATE VIEW v AS SELECT u, f(a) AS id FROM visits",
    "a sample": "CREATE VIEW v AS SELECT * FROM visits USING SAMPLE 3 ROWS",
}


@pytest.mark.parametrize("called", VIEWS)
def test_lent_views_that_change_are_refused(called: str) -> None:
    connection = _database(":memory:", "")
    connection.execute(VIEWS[called])
    assert drawn(connection, "v") == called
    with pytest.raises(Refused) as refused:
        open_source(ibis.duckdb.from_connection(connection).table("v"))
    assert refused.value.code == "table.source"
    assert called in refused.value.reason


def test_lent_views_of_stored_values_are_read(tmp_path: Path) -> None:
    """Such as Ibis makes of a file, and with columns that are called like a function."""
    connection = _database(":memory:", "")
    connection.execute('CREATE VIEW v AS SELECT u, a AS random, b AS "now" FROM visits WHERE abs(a) < 7')
    assert list(open_source(ibis.duckdb.from_connection(connection).table("v")).schema) == ["u", "random", "now"]
    assert drawn(connection, "visits") is None
    assert drawn(connection, "nothing") is None
    path = tmp_path / "visits.parquet"
    connection.execute(f"COPY visits TO '{path}' (FORMAT parquet)")
    assert list(open_source(ibis.duckdb.connect().read_parquet(path), name="visits").schema) == ["u", "a", "b"]
