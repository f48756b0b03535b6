"""psycopg and psql ask the service: the same answers, charges and refusals as by HTTP."""

from __future__ import annotations

import datetime
import json

import psycopg
import pytest
from psycopg.rows import dict_row

from ..service import Running
from .clients import connect, psql

Connection = psycopg.Connection[tuple[object, ...]]


def charges(service: Running) -> int:
    """The number of charges in the ledger of the visits."""
    url, count, after = f"{service.url}/api/datasets/visits/history", 0, 0
    while after is not None:
        reply = service.http.get(
            f"{url}?limit=200&after={after}", headers=service.deployment.header("owner")
        ).json()
        count += sum(entry["kind"] == "charge" for entry in reply["entries"])
        after = reply["next"]
    return count


def test_an_answer_has_the_columns_of_the_select(ada: Connection) -> None:
    cursor = ada.execute("SELECT COUNT(*) AS n, city, AVG(spend) AS m FROM visits GROUP BY city")
    assert cursor.description is not None
    assert [(c.name, c.type_code) for c in cursor.description] == [
        ("n", 20), ("city", 25), ("m", 701)
    ]  # fmt: skip
    rows = cursor.fetchall()
    assert [row[1] for row in rows] == ["Bari", "Milano", "Roma"]
    assert all(isinstance(n, int) and isinstance(m, float) for n, _, m in rows)


def test_a_second_look_is_the_same_answer_and_charged_once(wire: Running, ada: Connection) -> None:
    notices: list[str] = []
    ada.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    sql = "SELECT city, COUNT(*) AS once FROM visits WHERE age > 30 GROUP BY city"
    before = charges(wire)
    first = ada.execute(sql).fetchall()
    same = [ada.execute(f"/* chart {i} */ {sql}   -- refreshed").fetchall() for i in range(20)]
    with connect(wire, "ada", options="-c sfumato.epsilon=0.5") as second:
        same.append(second.execute(sql).fetchall())
    assert same == [first] * 21
    assert charges(wire) == before + 1
    assert notices[0].startswith("charged ε = 0.5")
    assert set(notices[1:]) == {"a stored answer: nothing was charged"}


def test_http_and_wire_share_stored_answers(wire: Running, ada: Connection) -> None:
    sql = "SELECT city, COUNT(*) AS shared FROM visits WHERE age > 31 GROUP BY city"
    released = wire.http.post(
        f"{wire.url}/api/datasets/visits/release",
        headers={**wire.deployment.header("ada"), "Idempotency-Key": "shared"},
        json={"sql": sql, "epsilon": "0.5"},
    ).json()["table"]["rows"]
    before = charges(wire)
    assert ada.execute(sql).fetchall() == [(row["city"], row["shared"]) for row in released]
    assert charges(wire) == before


def test_a_describe_charges_nothing(wire: Running, ada: Connection) -> None:
    before = charges(wire)
    prepared = ada.pgconn.prepare(b"s", b"SELECT COUNT(*) AS n FROM visits WHERE age > $1", [23])
    described = ada.pgconn.describe_prepared(b"s")
    assert (described.nparams, described.param_type(0), described.fname(0)) == (1, 23, b"n")
    assert prepared.error_message == b""
    assert charges(wire) == before
    values = [
        ada.pgconn.exec_prepared(b"s", [text], [form], result_form).get_value(0, 0)
        for text, form, result_form in ((b"33", 0, 0), (b"\0\0\0\x21", 1, 1))
    ]
    assert charges(wire) == before + 1
    assert int(values[0] or b"x") == int.from_bytes(values[1] or b"", "big", signed=True)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("age > %s", 34),
        ("age > %t", 34),
        ("spend < %s", 50.5),
        ("spend < %b", 50.5),
        ("city = %s", "Roma"),
        ("day >= %s", datetime.date(2026, 2, 1)),
        ("day >= %b", datetime.date(2026, 2, 1)),
        ("(age > 40) = %b", True),
    ],
)
def test_parameters_of_every_type(ada: Connection, condition: str, value: object) -> None:
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    ((reply,),) = ada.execute(sql, [value]).fetchall()  # type: ignore[arg-type]  # a literal text
    typed = (
        condition.replace("%s", "%t")
        .replace("%b", "%t")
        .replace("%t", repr(value) if not isinstance(value, datetime.date) else f"DATE '{value}'")
    )
    ((written,),) = ada.execute(f"SELECT COUNT(*) AS n FROM visits WHERE {typed}").fetchall()
    assert isinstance(reply, int)
    assert isinstance(written, int)


def test_binary_results_equal_text(ada: Connection) -> None:
    sql = "SELECT city, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY city"
    assert ada.execute(sql, binary=True).fetchall() == ada.execute(sql, binary=False).fetchall()


def test_intervals_are_columns(ada: Connection) -> None:
    ada.execute("SET sfumato.intervals = on")
    with ada.cursor(row_factory=dict_row) as cursor:
        (row,) = cursor.execute("SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits").fetchall()
    assert list(row) == ["n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert row["n_low"] < row["n"] < row["n_high"]
    assert isinstance(row["n_low"], int)


def test_a_histogram_has_a_column_for_each_bin(ada: Connection) -> None:
    sql = "SELECT HISTOGRAM(age, [0, 50, 100]) AS h FROM visits"
    cursor = ada.execute(sql)
    assert [c.name for c in cursor.description or ()] == ["h [0, 50)", "h [50, 100]"]
    assert all(isinstance(cell, int) for cell in cursor.fetchone() or (None,))


def test_a_median_of_dates_is_a_date(ada: Connection) -> None:
    ((day,),) = ada.execute("SELECT MEDIAN(day) AS d FROM visits").fetchall()
    assert isinstance(day, datetime.date)


def test_a_portal_gives_its_rows_in_parts(wire: Running) -> None:
    with connect(wire, "ada", options="-c sfumato.epsilon=0.5") as connection:
        sql = b"SELECT city, COUNT(*) AS parts FROM visits GROUP BY city"
        rows = list(connection.cursor().stream(sql))  # type: ignore[arg-type]  # bytes are SQL
        assert len(rows) == 3


def test_a_cursor_with_a_name(wire: Running) -> None:
    options = "-c sfumato.epsilon=0.5"
    with connect(wire, "ada", options=options, autocommit=False) as connection:
        before = charges(wire)
        with connection.cursor("parts") as cursor:
            cursor.execute("SELECT city, COUNT(*) AS named FROM visits GROUP BY city")
            assert [column.name for column in cursor.description or ()] == ["city", "named"]
            assert [row[0] for row in cursor.fetchmany(2)] == ["Bari", "Milano"]
            assert [row[0] for row in cursor.fetchall()] == ["Roma"]
        assert charges(wire) == before + 1
        with pytest.raises(psycopg.Error, match=r"\[postgres.name\]"):
            connection.execute("FETCH ALL FROM parts")


@pytest.mark.parametrize(
    ("sql", "code", "state", "hint", "position"),
    [
        ("SELECT * FROM visits", "sql.star", "0A000", "SELECT COUNT(*) AS n FROM visits", 8),
        ("SELECT nope, COUNT(*) FROM visits GROUP BY 1", "sql.column", "42703", None, 8),
        ("SELECT COUNT(*) FROM nothere", "sql.table", "42P01",
         "SELECT COUNT(*) FROM visits", 22),
        ("INSERT INTO visits VALUES (1)", "postgres.statement", "0A000", None, None),
        ("COPY visits TO STDOUT", "postgres.statement", "0A000", None, None),
        ("SELECT pg_read_file('x')", "postgres.catalog", "42P01", None, None),
        ("SELECT * FROM read_csv('/etc/passwd')", "postgres.catalog", "42P01", None, None),
        ("SET sfumato.nothing = 1", "postgres.setting", "22023", None, None),
    ],
)  # fmt: skip
def test_a_refusal_is_an_error_of_postgresql(
    ada: Connection, sql: str, code: str, state: str, hint: str | None, position: int | None
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        ada.execute(sql)  # type: ignore[call-overload]  # a text
    diagnosis = caught.value.diag
    assert f"[{code}]" in (diagnosis.message_primary or "")
    assert (diagnosis.sqlstate, diagnosis.severity) == (state, "ERROR")
    assert diagnosis.message_detail
    assert diagnosis.message_hint if hint is None else diagnosis.message_hint == hint
    assert diagnosis.statement_position == (None if position is None else str(position))
    assert ada.execute("SELECT 1").fetchone() == (1,)


def test_a_question_needs_an_amount(wire: Running) -> None:
    with connect(wire, "ada") as connection:
        with pytest.raises(psycopg.Error, match=r"\[postgres.amount\]") as caught:
            connection.execute("SELECT COUNT(*) AS n FROM visits")
        assert caught.value.diag.message_hint == "SET sfumato.epsilon = 0.1"
        connection.execute("/* sfumato: epsilon = 0.25 */ SELECT COUNT(*) AS n FROM visits")
        connection.execute("SET sfumato.within = 'n = 30'")
        assert connection.execute("SHOW sfumato.within").fetchone() == ("n = 30",)
        assert connection.execute("SHOW sfumato.epsilon").fetchone() == ("",)
        connection.execute("SELECT COUNT(*) AS n FROM visits WHERE age > 77")
        connection.execute("RESET ALL")
        assert connection.execute("SHOW sfumato.within").fetchone() == ("",)


def test_a_charge_is_never_rolled_back(wire: Running, ada: Connection) -> None:
    notices: list[str] = []
    ada.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    before = charges(wire)
    ada.execute("BEGIN")
    ada.execute("SELECT COUNT(*) AS rolled FROM visits")
    ada.execute("ROLLBACK")
    assert charges(wire) == before + 1
    assert notices[-1] == "a charge is never rolled back"


def test_other_roles_see_the_catalogue_and_ask_nothing(wire: Running) -> None:
    with connect(wire, "auditor") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        for sql in ("SELECT COUNT(*) FROM visits", "EXPLAIN SELECT COUNT(*) FROM visits"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"/* sfumato: epsilon=1 */ {sql}")


def test_psql_says_cost_and_plan(wire: Running) -> None:
    reply = psql(
        wire,
        "EXPLAIN PRIVACY SELECT COUNT(*) AS planned FROM visits",
        "SELECT COUNT(*) AS planned FROM visits",
    )
    assert reply.returncode == 0, reply.stderr
    assert "cost    ε = 1" in reply.stdout
    assert "NOTICE:  charged ε = 1" in reply.stderr


def test_a_plan_as_json_is_the_plan_of_http(wire: Running, ada: Connection) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 71"
    explain = f"EXPLAIN (FORMAT JSON) {sql}"
    ((plan,),) = ada.execute(explain).fetchall()  # type: ignore[call-overload]  # a text
    by_http = wire.http.post(
        f"{wire.url}/api/datasets/visits/plan",
        headers=wire.deployment.header("ada"),
        json={"sql": sql, "epsilon": "0.5"},
    ).json()
    assert (plan if isinstance(plan, list) else json.loads(str(plan)))[0]["Plan"] == by_http
