"""What two looks need not see alike: generated columns are left out, views that are not row by row
are refused, and what is stored is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables.engine.duckdb_catalog import (
    PLAIN,
    REASON,
    ROW_WISE,
    catalog_entries,
    generated_columns,
)
from sfumato.tables.engine.sources import open_source

from ..refusing import refusal

CHANGING = ["random()", "now()", "nextval('s')", "uuid()", "m(a)", "a + 1"]


def unstable(connection: Any, database: str | None, schema: str | None, name: str) -> str | None:
    """Why a name is not read; None where it is."""
    try:
        assert catalog_entries(connection, database, schema, name)
    except Refused as refused:
        return refused.reason.partition(";")[0]
    return None


def _database(path: Path | str, column: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(path))
    connection.execute("CREATE SEQUENCE s; CREATE MACRO m(x) AS x + random()")
    connection.execute(f"CREATE TABLE visits(u INTEGER, a INTEGER, b VARCHAR{column})")
    connection.execute("INSERT INTO visits(u, a, b) SELECT i, i, 'x' FROM range(10) AS t(i)")
    return connection


@pytest.mark.parametrize("expression", CHANGING)
def test_generated_columns_of_a_file_are_left_out(expression: str, tmp_path: Path) -> None:
    """A refusal says why a generated column cannot be named. The stored columns answer, also where
    this DuckDB could not compute the generated column.
    """
    path = tmp_path / "clinic.duckdb"
    _database(path, f", g AS ({expression})").close()
    with pytest.raises(Refused) as refused:
        sf.protect(f"{path}::visits", unit="g", max_rows=1, budget=1)
    assert refused.value.reason == REASON
    with sf.protect(
        f"{path}::visits", unit="u", max_rows=1, bounds={"a": (0, 10)}, budget=10
    ) as table:
        assert "g" not in table.declaration.schema
        assert len(table.aggregate(n=sf.count(), total=sf.sum("a")).release(epsilon=1)) == 1
        with pytest.raises(Refused):
            table.group_by("g")


def test_defaults_are_stored(tmp_path: Path) -> None:
    """A default is a value that was stored; beside a generated column it cannot be told from one,
    and is left out as well.
    """
    for column, read in (
        (", d INTEGER DEFAULT 7", ["u", "a", "b", "d"]),
        (", d INTEGER DEFAULT 7, g AS (a + 1)", ["u", "a", "b"]),
    ):
        path = tmp_path / f"{len(column)}.duckdb"
        _database(path, column).close()
        source = open_source(f"{path}::visits")
        assert list(source.schema) == read
        source.engine.close()


def test_generated_columns_of_a_lent_connection_are_left_out() -> None:
    connection = _database(":memory:", ", g AS (random())")
    assert generated_columns(connection, "memory", "main", "visits") == {"g": REASON}
    source = open_source(ibis.duckdb.from_connection(connection).table("visits"))
    assert list(source.schema) == ["u", "a", "b"]
    assert source.left_out == {"g": REASON}


VIEWS = {
    "the view calls random": "SELECT u, random() AS r FROM visits",
    "the view calls current_date": "SELECT u, CURRENT_DATE AS today FROM visits",
    "the view calls uuid": "SELECT u, uuid() AS id FROM visits",
    "the view takes a sample": "SELECT * FROM visits USING SAMPLE 3 ROWS",
    "the view takes a sample ": "SELECT * FROM visits TABLESAMPLE 10%",
    "the view calls ago": "SELECT u, ago(INTERVAL 1 DAY) AS day FROM visits",
    "the view calls current_localtimestamp": "SELECT u, current_localtimestamp() AS t FROM visits",
    "the view calls age": "SELECT u, age(TIMESTAMP '2020-01-01') AS old FROM visits",
    "the view calls getvariable": "SELECT u, getvariable('x') AS x FROM visits",
    "the view calls rowid": "SELECT rowid AS u, a FROM visits",
    "the view orders, limits or merges rows": "SELECT * FROM visits LIMIT 3",
    "the view orders, limits or merges rows ": "SELECT * FROM visits ORDER BY a LIMIT 3 OFFSET 2",
    "the view orders, limits or merges rows  ": "SELECT DISTINCT ON (u) u, a FROM visits",
    "the view orders, limits or merges rows   ": "SELECT DISTINCT u FROM visits",
    "the view groups rows": "SELECT u, first(a) AS a FROM visits GROUP BY u",
    "the view groups rows ": "SELECT u, any_value(a) AS a FROM visits GROUP BY u",
    "the view groups rows  ": "SELECT u, list(a)[1] AS a FROM visits GROUP BY u",
    "the view groups rows   ": "SELECT u, sum(a::DOUBLE) AS a FROM visits GROUP BY ALL",
    "the view groups rows    ": (
        "SELECT visits.u FROM visits JOIN (SELECT u, arg_max(a, b) AS f FROM visits GROUP BY "
        "u) s ON visits.u = s.u WHERE s.f > 0"
    ),
    "the view calls last": "SELECT last(u) AS u FROM visits",
    "the view calls mode": "SELECT mode(u) AS u FROM visits",
    "the view calls string_agg": "SELECT string_agg(b) AS u FROM visits",
    "the view calls unnest": "SELECT unnest([u, a]) AS u FROM visits",
    "the view numbers rows": "SELECT * FROM visits QUALIFY row_number() OVER (PARTITION BY u) = 1",
    "the view has the step window": "SELECT row_number() OVER () AS u, a FROM visits",
    "the view has the step window ": "SELECT u, sum(a) OVER (PARTITION BY u) AS a FROM visits",
    "the view has the step subquery": "SELECT u, (SELECT max(a) FROM visits) AS a FROM visits",
    "the view has the step subquery ": "SELECT * FROM visits WHERE u IN (SELECT u FROM visits)",
    "the view has the step lambda": (
        "SELECT u, list_transform(range(a), lambda x: x + 1)[1] AS a FROM visits"
    ),
    "the view has the step collate": "SELECT u, a FROM visits WHERE b COLLATE NOCASE = 'X'",
    "the view has the step set operation": "SELECT u FROM visits UNION SELECT a FROM visits",
    "the view has the step set operation ": "SELECT u FROM visits EXCEPT ALL SELECT a FROM visits",
    "the view names a query by WITH": "WITH q AS (SELECT * FROM visits) SELECT * FROM q",
    "the view has the step asof join": (
        "SELECT visits.u FROM visits ASOF JOIN visits AS w ON visits.u = w.u AND visits.a >= w.a"
    ),
    "the view has the step positional join": (
        "SELECT visits.u FROM visits POSITIONAL JOIN visits AS w"
    ),
    "the view has the step expression list": "SELECT * FROM (VALUES (1, 2)) AS t(u, a)",
    "the view has the step pivot": "PIVOT visits ON b IN ('x') USING count(*)",
    "the view calls the table function range, anew each time": "SELECT range AS u FROM range(3)",
}
"""Why a view is refused → the view. Blanks at the end tell views apart that are refused for one
reason.
"""


@pytest.mark.parametrize("why", VIEWS)
def test_lent_views_that_are_not_row_by_row_are_refused(why: str) -> None:
    """Views that depend on order, on chance or on other rows: two looks may differ, and one unit's
    rows may decide about another's.
    """
    connection = _database(":memory:", "")
    connection.execute(f"CREATE VIEW v AS {VIEWS[why]}")
    assert unstable(connection, None, None, "v") == why.rstrip()
    refused = refusal(
        lambda: open_source(ibis.duckdb.from_connection(connection).table("v")), "table.source"
    )
    assert why.rstrip() in refused.reason


def test_the_rewrite_of_a_refused_view_works() -> None:
    connection: Any = ibis.duckdb.from_connection(_database(":memory:", ""))
    connection.con.execute("CREATE VIEW v AS SELECT u, first(a) AS a FROM visits GROUP BY u")
    refused = refusal(
        lambda: sf.protect(connection.table("v"), unit="u", max_rows=1, budget=1), "table.source"
    )
    call = refused.rewrite.replace('"user_id"', '"u", max_rows=1')
    table = eval(call, {"protect": sf.protect, "connection": connection})
    assert len(table.aggregate(n=sf.count()).release(epsilon=1)) == 1


def test_every_part_of_a_query_is_known() -> None:
    """DuckDB's parser names these parts, each absent in a plain query: a DuckDB with others, or
    other names for them, fails here.
    """
    import json

    text = (
        "SELECT abs(a) + 1, CASE WHEN a > 1 AND b IS NULL THEN 2 END, a BETWEEN 1 AND 2, "
        "CAST(a AS INT), * FROM visits JOIN q ON a = u WHERE NOT a IN (1, 2)"
    )
    ((serialized,),) = duckdb.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    node = json.loads(serialized)["statements"][0]["node"]
    assert set(node) == {"type", "select_list", "from_table", "where_clause", *PLAIN} - {
        "at_clause"
    }
    assert {key for key in node["from_table"]["left"] if key in PLAIN} == {"sample", "at_clause"}
    assert {key: value for key, value in node.items() if key in PLAIN} == {
        key: absent for key, (absent, _) in PLAIN.items() if key != "at_clause"
    }
    classes = set[str]()

    def walk(part: Any) -> None:
        classes.update([part["class"]] if isinstance(part, dict) and "class" in part else [])
        for inner in (
            part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        ):
            walk(inner)

    walk(node)
    assert classes == ROW_WISE


DRAWS = "AS SELECT (random() * 100000000)::BIGINT AS u, a FROM visits"
HIDDEN = {
    "in another schema, of the same name": (
        f"CREATE VIEW v {DRAWS}; CREATE SCHEMA s2; CREATE VIEW s2.v AS SELECT * FROM visits"
    ),
    "a view that has its name from elsewhere": (
        f"CREATE SCHEMA s2; CREATE VIEW s2.v {DRAWS}; CREATE VIEW v AS SELECT * FROM s2.v"
    ),
    "where the connection is": (
        f"CREATE SCHEMA s2; CREATE VIEW v AS SELECT * FROM visits; CREATE VIEW s2.v "
        f"{DRAWS.replace('FROM ', 'FROM main.')}; USE s2"
    ),
    "on the path of the connection": (
        f"CREATE SCHEMA s2; CREATE SCHEMA s3; CREATE VIEW s3.v {DRAWS}; SET search_path = "
        f"'s2,s3,main'"
    ),
    "in another database": (
        f"ATTACH ':memory:' AS other; CREATE VIEW other.w "
        f"{DRAWS.replace('FROM ', 'FROM memory.')}; CREATE VIEW v AS SELECT * FROM other.w"
    ),
    "temporary": f"CREATE TEMP VIEW v {DRAWS}",
    "temporary, before another": (
        f"CREATE VIEW v AS SELECT * FROM visits; CREATE TEMP VIEW v {DRAWS}"
    ),
    "a name with a space": (
        f'CREATE VIEW "my view" {DRAWS}; CREATE VIEW v AS SELECT * FROM "my view"'
    ),
    "a name with a quote": (
        f'CREATE VIEW "my""view" {DRAWS}; CREATE VIEW v AS SELECT * FROM "my""view"'
    ),
    "a name with an accent": f"CREATE VIEW vé {DRAWS}; CREATE VIEW v AS SELECT * FROM vé",
    "a name whose letters change with what follows": (
        f"CREATE VIEW ΑΣ {DRAWS}; CREATE VIEW v AS SELECT ΑΣ.u FROM ΑΣ"
    ),
    "a name with a dollar": f"CREATE VIEW a$b {DRAWS}; CREATE VIEW v AS SELECT * FROM a$b",
    "other letters": f"CREATE VIEW Wide {DRAWS}; CREATE VIEW v AS SELECT * FROM WIDE",
    "two views down": (
        f'CREATE VIEW "1" {DRAWS}; CREATE VIEW "2" AS SELECT * FROM "1"; CREATE VIEW v AS '
        f'SELECT * FROM "2"'
    ),
    "a macro with a space": (
        'CREATE MACRO "ma cro"() AS random(); CREATE VIEW v AS SELECT ("ma cro"() * '
        "100000000)::BIGINT AS u, a FROM visits"
    ),
    "a macro of two forms": (
        "CREATE MACRO f(x) AS random(), (x, y) AS x; CREATE VIEW v AS SELECT f(a) AS u, a "
        "FROM visits"
    ),
    "a macro that is a table": (
        f'CREATE MACRO "a table"() AS TABLE {DRAWS[3:]}; CREATE VIEW v AS SELECT * FROM "a table"()'
    ),
    "a temporary macro": (
        "CREATE TEMP MACRO f() AS random(); CREATE TEMP VIEW v AS SELECT f() AS u, a FROM visits"
    ),
    "a function of its own": "CREATE VIEW v AS SELECT drawné() AS u, a FROM visits",
    "generated below": (
        "CREATE TABLE g(a INTEGER, u AS (random())); CREATE VIEW v AS SELECT u, a FROM g"
    ),
    "generated two views down": (
        'CREATE TABLE "my g"(a INTEGER, u AS (random())); CREATE VIEW w AS SELECT * FROM "my '
        'g"; CREATE VIEW v AS SELECT u FROM w'
    ),
    "a function of its own that claims to be consistent": (
        "CREATE VIEW v AS SELECT claimed() AS u, a FROM visits"
    ),
    "a macro in the place of a function": (
        "CREATE MACRO abs(x) AS random(); CREATE VIEW v AS SELECT abs(a) AS u, a FROM visits"
    ),
    "a file": (
        "COPY visits TO '{folder}/visits.parquet'; CREATE VIEW v AS SELECT * FROM "
        "'{folder}/visits.parquet'"
    ),
    "a file by a function": (
        "COPY visits TO '{folder}/visits.parquet'; CREATE VIEW v AS SELECT * FROM "
        "read_parquet('{folder}/visits.parquet')"
    ),
    "put together of texts": (
        "CREATE VIEW v AS SELECT * FROM query('SELECT ran' || 'dom() AS u, a FROM visits')"
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_lent_view_names_is_found(name: str, tmp_path: Path) -> None:
    """Under whatever name, and in whatever schema: a column that is drawn at every look is no
    unit.
    """
    connection = _database(":memory:", "")
    integer = duckdb.sqltype("BIGINT")
    connection.create_function("drawné", lambda: 3, [], integer, side_effects=True)
    connection.create_function("claimed", lambda: 3, [], integer)
    connection.execute(HIDDEN[name].replace("{folder}", str(tmp_path)))
    with pytest.raises(Refused) as refused:
        sf.protect(
            ibis.duckdb.from_connection(connection).table("v"), unit="u", max_rows=1, budget=1
        )
    assert refused.value.code == "table.source"
    assert "create_table" in refused.value.rewrite
    assert unstable(connection, None, None, "v") or unstable(connection, None, "s2", "v")


def test_lent_views_without_a_text_are_refused() -> None:
    """Of a frame that was registered and of a query that was made a view, the catalogue says the
    same: nothing.
    """
    connection = _database(":memory:", "")
    connection.sql("SELECT random() AS u FROM visits").create_view("v")
    connection.execute("CREATE VIEW w AS SELECT * FROM v")
    connection.register("frame", pa.table({"u": [1, 2]}))
    for name in ("v", "w", "frame"):
        with pytest.raises(Refused, match=r"table\.source"):
            open_source(ibis.duckdb.from_connection(connection).table(name))


def test_a_view_of_one_schema_is_not_that_of_another() -> None:
    connection = _database(":memory:", "")
    connection.execute(
        f"CREATE VIEW v AS SELECT u, a FROM visits; CREATE SCHEMA s2; CREATE VIEW s2.v {DRAWS}"
    )
    backend = ibis.duckdb.from_connection(connection)
    assert list(open_source(backend.table("v", database="main")).schema) == ["u", "a"]
    assert list(open_source(backend.table("v", database=("memory", "main"))).schema) == ["u", "a"]
    assert unstable(connection, None, None, "v") is None
    assert unstable(connection, "memory", "main", "V") is None
    assert (
        unstable(connection, None, "s2", "v")
        == unstable(connection, "memory", "s2", "v")
        == "the view calls random"
    )
    for place in ("s2", ("memory", "s2")):
        with pytest.raises(Refused, match=r"table\.source"):
            open_source(backend.table("v", database=place))
    connection.execute(f"CREATE VIEW s2.visits {DRAWS}")
    assert list(open_source(backend.table("visits")).schema) == ["u", "a", "b"]
    assert unstable(connection, None, None, "v") == "the view calls random", (
        "in its text the name may be that of either"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMP TABLE g(a INTEGER, r AS (random()))",
        "CREATE SCHEMA s; USE s; CREATE TABLE g(a INTEGER, r AS (random()))",
        "CREATE TABLE G(a INTEGER, r AS (random()))",
    ],
    ids=["temporary", "where the connection is", "other letters"],
)
def test_generated_columns_are_found_where_the_connection_finds_them(statement: str) -> None:
    connection = duckdb.connect()
    connection.execute(statement)
    assert list(open_source(ibis.duckdb.from_connection(connection).table("g")).schema) == ["a"]


def test_lent_views_of_stored_values_are_read(tmp_path: Path) -> None:
    """Such as Ibis makes of a file, and with columns that are called like a function."""
    connection = _database(":memory:", "")
    connection.execute(
        'CREATE VIEW v AS SELECT u, a AS random, b AS "now" FROM visits WHERE abs(a) < 7'
    )
    assert list(open_source(ibis.duckdb.from_connection(connection).table("v")).schema) == [
        "u",
        "random",
        "now",
    ]
    assert unstable(connection, None, None, "visits") is None
    assert "'nothing' is not in the catalogue" in str(unstable(connection, None, None, "nothing"))


ROWS = {
    "columns": (
        "SELECT u, a + 1 AS a, upper(b) AS b, CASE WHEN a > 3 THEN 1 END AS c, TRY_CAST(b AS "
        "INT) AS d FROM visits WHERE a BETWEEN 1 AND 7 AND b = 'x'"
    ),
    "a join": "SELECT visits.u, w.a FROM visits LEFT JOIN visits AS w ON visits.u = w.u",
    "a sub-query": "SELECT * FROM (SELECT u, a FROM visits WHERE a > 2) AS q WHERE NOT u = 4",
    "a union": "SELECT u, a FROM visits UNION ALL SELECT a, u FROM visits",
    "a view of a view": "SELECT * EXCLUDE (b) FROM w",
}


@pytest.mark.parametrize("name", ROWS)
def test_lent_views_row_by_row_are_read(name: str) -> None:
    connection = _database(":memory:", "")
    connection.execute(f"CREATE VIEW w AS SELECT * FROM visits; CREATE VIEW v AS {ROWS[name]}")
    table = sf.protect(
        ibis.duckdb.from_connection(connection).table("v"),
        unit="u",
        max_rows=1,
        bounds={"a": (0, 10)},
        budget=10,
    )
    assert len(table.aggregate(n=sf.count(), total=sf.sum("a")).release(epsilon=1)) == 1


def test_a_file_by_its_name_is_no_lent_table(tmp_path: Path) -> None:
    """DuckDB takes the name of a table that it does not have for a file, and would open it at every
    look.
    """
    connection = _database(":memory:", "")
    connection.execute(f"COPY visits TO '{tmp_path}/visits.parquet'")
    backend = ibis.duckdb.from_connection(connection)
    for table in (
        backend.table(f"{tmp_path}/visits.parquet"),
        backend.read_parquet(f"{tmp_path}/visits.parquet", table_name="r"),
    ):
        refused = refusal(lambda table=table: open_source(table, name="visits"), "table.source")
        assert "create_table" in refused.rewrite


class Attached:
    """A connection that reports its second database as one of SQLite. To attach a real one, DuckDB
    would have to fetch an extension.
    """

    def __init__(self, connection: Any) -> None:
        self._connection, self.execute = connection, connection.execute

    def sql(self, text: str) -> Any:
        return self._connection.sql(
            (
                f"SELECT database_name, if(database_name = 'other', 'sqlite', type) AS type "
                f"FROM ({text})"
            )
            if "duckdb_databases" in text
            else text
        )


def test_tables_of_another_system_are_refused() -> None:
    """Two looks of one statement at an attached SQLite or PostgreSQL need not see the same
    state.
    """
    connection = _database(":memory:", "")
    connection.execute(
        "ATTACH ':memory:' AS other; CREATE TABLE other.rows(u INTEGER); CREATE VIEW v "
        "AS SELECT * FROM other.rows"
    )
    for place in (("other", "main", "rows"), (None, None, "v")):
        assert unstable(connection, *place) is None
        assert "another system" in str(unstable(Attached(connection), *place))
