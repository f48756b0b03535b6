"""Cells that are computed when they are read: left out, or refused with their view; and what is stored beside them is read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import ibis
import pyarrow as pa
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
    "current_timestamp": "CREATE VIEW v AS SELECT u, ago(INTERVAL 1 DAY) AS day FROM visits",
    "current_localtimestamp": "CREATE VIEW v AS SELECT u, current_localtimestamp() AS now FROM visits",
    "age": "CREATE VIEW v AS SELECT u, age(TIMESTAMP '2020-01-01') AS old FROM visits",
    "getvariable": "CREATE VIEW v AS SELECT u, getvariable('x') AS x FROM visits",
}


@pytest.mark.parametrize("called", VIEWS)
def test_lent_views_that_change_are_refused(called: str) -> None:
    connection = _database(":memory:", "")
    connection.execute(VIEWS[called])
    assert drawn(connection, None, None, "v") == f"it calls {called}"
    with pytest.raises(Refused) as refused:
        open_source(ibis.duckdb.from_connection(connection).table("v"))
    assert refused.value.code == "table.source"
    assert called in refused.value.reason


DRAWS = "AS SELECT (random() * 100000000)::BIGINT AS u, a FROM visits"
HIDDEN = {
    "in another schema, of the same name": f"CREATE VIEW v {DRAWS}; CREATE SCHEMA s2; CREATE VIEW s2.v AS SELECT * FROM visits",
    "a view that has its name from elsewhere": f"CREATE SCHEMA s2; CREATE VIEW s2.v {DRAWS}; CREATE VIEW v AS SELECT * FROM s2.v",
    "where the connection is": f"CREATE SCHEMA s2; CREATE VIEW v AS SELECT * FROM visits; CREATE VIEW s2.v {DRAWS.replace('FROM ', 'FROM main.')}; USE s2",
    "on the path of the connection": f"CREATE SCHEMA s2; CREATE SCHEMA s3; CREATE VIEW s3.v {DRAWS}; SET search_path = 's2,s3,main'",
    "in another database": f"ATTACH ':memory:' AS other; CREATE VIEW other.w {DRAWS.replace('FROM ', 'FROM memory.')}; CREATE VIEW v AS SELECT * FROM other.w",
    "temporary": f"CREATE TEMP VIEW v {DRAWS}",
    "temporary, before another": f"CREATE VIEW v AS SELECT * FROM visits; CREATE TEMP VIEW v {DRAWS}",
    "a name with a space": f'CREATE VIEW "my view" {DRAWS}; CREATE VIEW v AS SELECT * FROM "my view"',
    "a name with a quote": f'CREATE VIEW "my""view" {DRAWS}; CREATE VIEW v AS SELECT * FROM "my""view"',
    "a name with an accent": f"CREATE VIEW vé {DRAWS}; CREATE VIEW v AS SELECT * FROM vé",
    "a name whose letters change with what follows": f"CREATE VIEW ΑΣ {DRAWS}; CREATE VIEW v AS SELECT ΑΣ.u FROM ΑΣ",
    "a name with a dollar": f"CREATE VIEW a$b {DRAWS}; CREATE VIEW v AS SELECT * FROM a$b",
    "other letters": f"CREATE VIEW Wide {DRAWS}; CREATE VIEW v AS SELECT * FROM WIDE",
    "two views down": f'CREATE VIEW "1" {DRAWS}; CREATE VIEW "2" AS SELECT * FROM "1"; CREATE VIEW v AS SELECT * FROM "2"',
    "a macro with a space": 'CREATE MACRO "ma cro"() AS random(); CREATE VIEW v AS SELECT ("ma cro"() * 100000000)::BIGINT AS u, a FROM visits',
    "a macro of two forms": "CREATE MACRO f(x) AS random(), (x, y) AS x; CREATE VIEW v AS SELECT f(a) AS u, a FROM visits",
    "a macro that is a table": f'CREATE MACRO "a table"() AS TABLE {DRAWS[3:]}; CREATE VIEW v AS SELECT * FROM "a table"()',
    "a temporary macro": "CREATE TEMP MACRO f() AS random(); CREATE TEMP VIEW v AS SELECT f() AS u, a FROM visits",
    "a function of its own": "CREATE VIEW v AS SELECT drawné() AS u, a FROM visits",
    "generated below": "CREATE TABLE g(a INTEGER, u AS (random())); CREATE VIEW v AS SELECT u, a FROM g",
    "generated two views down": 'CREATE TABLE "my g"(a INTEGER, u AS (random())); CREATE VIEW w AS SELECT * FROM "my g"; CREATE VIEW v AS SELECT u FROM w',
    "put together of texts": "CREATE VIEW v AS SELECT * FROM query('SELECT ran' || 'dom() AS u, a FROM visits')",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_lent_view_names_is_found(name: str) -> None:
    """Under whatever name, and in whatever schema: a column that is drawn at every look is no unit."""
    connection = _database(":memory:", "")
    connection.create_function("drawné", lambda: 3, [], "BIGINT", side_effects=True)  # type: ignore[arg-type]
    connection.execute(HIDDEN[name])
    with pytest.raises(Refused) as refused:
        sf.protect(ibis.duckdb.from_connection(connection).table("v"), unit="u", max_rows=1, budget=1)
    assert refused.value.code == "table.source"
    assert "Parquet" in refused.value.rewrite


def test_lent_views_without_a_text_are_refused() -> None:
    """Of a frame that was registered and of a query that was made a view, the catalogue says the same: nothing."""
    connection = _database(":memory:", "")
    connection.sql("SELECT random() AS u FROM visits").create_view("v")
    connection.execute("CREATE VIEW w AS SELECT * FROM v")
    connection.register("frame", pa.table({"u": [1, 2]}))
    for name in ("v", "w", "frame"):
        with pytest.raises(Refused, match=r"table\.source"):
            open_source(ibis.duckdb.from_connection(connection).table(name))


def test_a_view_of_one_schema_is_not_that_of_another() -> None:
    connection = _database(":memory:", "")
    connection.execute(f"CREATE VIEW v AS SELECT u, a FROM visits; CREATE SCHEMA s2; CREATE VIEW s2.v {DRAWS}")
    backend = ibis.duckdb.from_connection(connection)
    assert list(open_source(backend.table("v", database="main")).schema) == ["u", "a"]
    assert list(open_source(backend.table("v", database=("memory", "main"))).schema) == ["u", "a"]
    assert drawn(connection, None, None, "v") is None
    assert drawn(connection, "memory", "main", "V") is None
    assert drawn(connection, None, "s2", "v") == drawn(connection, "memory", "s2", "v") == "it calls random"
    for place in ("s2", ("memory", "s2")):
        with pytest.raises(Refused, match=r"table\.source"):
            open_source(backend.table("v", database=place))
    connection.execute(f"CREATE VIEW s2.visits {DRAWS}")
    assert list(open_source(backend.table("visits")).schema) == ["u", "a", "b"]
    assert drawn(connection, None, None, "v") == "it calls random", "in its text the name may be that of either"


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TEMP TABLE g(a INTEGER, r AS (random()))",
        "CREATE SCHEMA s; USE s; CREATE TABLE g(a INTEGER, r AS (random()))",
        "CREATE TABLE G(a INTEGER, r AS (random()))",
    ],
    ids=["temporary", "where the connection is", "other letters"],
)
def test_generated_columns_are_found_where_the_connection_finds_them(made: str) -> None:
    connection = duckdb.connect()
    connection.execute(made)
    assert list(open_source(ibis.duckdb.from_connection(connection).table("g")).schema) == ["a"]


def test_lent_views_of_stored_values_are_read(tmp_path: Path) -> None:
    """Such as Ibis makes of a file, and with columns that are called like a function."""
    connection = _database(":memory:", "")
    connection.execute('CREATE VIEW v AS SELECT u, a AS random, b AS "now" FROM visits WHERE abs(a) < 7')
    assert list(open_source(ibis.duckdb.from_connection(connection).table("v")).schema) == ["u", "random", "now"]
    assert drawn(connection, None, None, "visits") is None
    assert drawn(connection, None, None, "nothing") is None
    path = tmp_path / "visits.parquet"
    connection.execute(f"COPY visits TO '{path}' (FORMAT parquet)")
    assert list(open_source(ibis.duckdb.connect().read_parquet(path), name="visits").schema) == ["u", "a", "b"]
