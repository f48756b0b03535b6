"""SQLAlchemy with pandas, JDBC and psqlODBC against the service, as they are.

These are slow tests: they need packages that are no part of the development environment, and fail
with the command that installs them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ..service import Running

pytestmark = pytest.mark.slow
JDBC = Path("/usr/share/java/postgresql.jar")
ODBC = Path("/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so")
PROBE = Path(__file__).with_name("Probe.java")
ALCHEMY = """
import sys
import pandas, sqlalchemy as sa
engine = sa.create_engine(sys.argv[1], connect_args={"options": "-c sfumato.epsilon=0.5"})
with engine.connect() as connection:
    inspector = sa.inspect(connection)
    assert inspector.get_table_names() == ["visits"]
    assert inspector.has_table("visits") and not inspector.has_table("clinic")
    names = [column["name"] for column in inspector.get_columns("visits")]
    assert names == ["user_id", "city", "age", "spend", "day", "note"], names
    for call in ("get_foreign_keys", "get_indexes", "get_unique_constraints",
                 "get_check_constraints"):
        assert getattr(inspector, call)("visits") == []
    assert inspector.get_table_comment("visits") == {"text": "visits to three cities"}
    visits = sa.Table("visits", sa.MetaData(), autoload_with=connection)
    question = (
        sa.select(visits.c.city, sa.func.count().label("n"), sa.func.avg(visits.c.spend).label("m"))
        .where(visits.c.age >= 40, visits.c.city.in_(["Roma", "Bari"]))
        .group_by(visits.c.city)
        .limit(1001)
    )
    rows = connection.execute(question).fetchall()
    assert [row.city for row in rows] == ["Bari", "Roma"], rows
    frame = pandas.read_sql(question, connection)
    assert list(frame.columns) == ["city", "n", "m"]
    assert list(frame["n"]) == [row.n for row in rows]
print("ok", sa.__version__)
"""


def need(there: bool, command: str) -> None:
    if not there:
        pytest.fail(f"this test needs more: {command}")


def test_sqlalchemy_and_pandas(wire: Running) -> None:
    need(find_spec("sqlalchemy") is not None, "pip install sqlalchemy")
    token = wire.deployment.tokens["ada"]
    url = f"postgresql+psycopg://ada:{token}@127.0.0.1:{wire.postgres}/visits"
    done = subprocess.run(
        [sys.executable, "-c", ALCHEMY, url], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_jdbc(wire: Running, tmp_path: Path) -> None:
    need(JDBC.exists(), "apt-get install libpostgresql-jdbc-java default-jdk-headless")
    subprocess.run(["javac", "-d", str(tmp_path), str(PROBE)], check=True)
    done = subprocess.run(
        ["java", "-cp", f"{JDBC}{os.pathsep}{tmp_path}", "Probe",
         f"jdbc:postgresql://127.0.0.1:{wire.postgres}/visits", "ada",
         wire.deployment.tokens["ada"]],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(("ok ", "  "))] == []
    assert "ok getColumns rows=6" in done.stdout
    assert "ok fetched 3" in done.stdout
    assert re.search(r"ok refused 0A000 .*sql\.star.*Position: 8", done.stdout)


def test_odbc(wire: Running) -> None:
    need(ODBC.exists(), "apt-get install unixodbc odbc-postgresql")
    settings = (
        f"Driver={ODBC};Server=127.0.0.1;Port={wire.postgres};Database=visits;UID=ada;"
        f"PWD={wire.deployment.tokens['ada']}"
    )
    hint = "/* sfumato: epsilon = 0.5 */"
    commands = [f"{hint} SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "help",
                "help visits", f"{hint} SELECT * FROM visits", "quit"]  # fmt: skip
    done = subprocess.run(
        ["isql", "-v", "-b", "-d|", "-k", settings],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    for city in ("Bari", "Milano", "Roma"):
        assert re.search(rf"^{city}\|-?[0-9]+$", done.stdout, re.MULTILINE), done.stdout
    assert "visits|public|visits|TABLE" in done.stdout
    assert "visits|public|visits|spend|" in done.stdout
    assert "refused [sql.star]" in done.stdout
