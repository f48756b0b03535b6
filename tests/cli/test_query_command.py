"""`sfumato query` as a shell sees it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import query_command

from .command_line import run_inside, run_process

COUNT = "SELECT COUNT(*) AS n FROM visits"
DECLARED = (
    "--unit",
    "user_id",
    "--max-rows",
    "5",
    "--bounds",
    "spend=0:100",
    "--keys",
    "city=Roma,Bari,Milano",
)


shell = partial(run_inside, "query")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "visits.parquet"
    pq.write_table(sf.samples.visits(), path)
    return path


def test_an_answer(path: Path) -> None:
    ended = shell(
        path,
        "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city",
        *DECLARED,
        "--epsilon",
        "0.5",
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["city", "n", "m"]
    assert [line.split()[0] for line in lines[1:4]] == ["Bari", "Milano", "Roma"]
    assert "cost ε = 0.5 of 0.5 · 0 left" in ended.stdout
    assert "this cost is not recorded" in ended.stdout
    assert ended.stderr == ""


def test_json(path: Path) -> None:
    ended = shell(
        path,
        "SELECT city, COUNT(*) AS n, COUNT(*) / 0 AS x FROM visits GROUP BY city",
        *DECLARED,
        "--epsilon",
        "1/3",
        "--json",
    )
    output: dict[str, Any] = json.loads(ended.stdout)
    assert [row["city"] for row in output["rows"]] == ["Bari", "Milano", "Roma"]
    assert all(
        row["n_low"] < row["n"] < row["n_high"] and row["x"] is None for row in output["rows"]
    )
    assert output["cost"]["epsilon"] == "1/3"
    assert output["receipt"]["number"] >= 1


def test_csv(path: Path) -> None:
    ended = shell(
        path,
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        *DECLARED,
        "--epsilon",
        "0.5",
        "--csv",
    )
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert [row["city"] for row in rows] == ["Bari", "Milano", "Roma"]
    assert float(rows[0]["n_low"]) < float(rows[0]["n"]) < float(rows[0]["n_high"])


def test_plan_reads_no_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.tables.engine import duckdb_engine

    def run(*_: object, **__: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "tally", run)
    text = "SELECT AVG(spend) AS m FROM visits"
    ended = shell(path, text, *DECLARED, "--epsilon", "0.5", "--plan")
    assert ended.returncode == 0
    assert "cost    ε = 0.5" in ended.stdout
    output = json.loads(shell(path, text, *DECLARED, "--epsilon", "0.5", "--plan", "--json").stdout)
    assert set(output["error"]) == {"m"}
    assert shell(path, text, *DECLARED, "--epsilon", "0.5", "--plan", "--csv").stdout.startswith(
        "column,error\nm,"
    )
    assert (
        "cost    ε = 0.5"
        in shell(path, f"EXPLAIN PRIVACY {text}", *DECLARED, "--epsilon", "0.5").stdout
    )
    assert (
        shell(path, text, *DECLARED, "--epsilon", "0.5").returncode == 3
    )  # and without --plan it is asked


def test_a_synthetic_table_is_planned_and_printed(path: Path) -> None:
    text = "CREATE SYNTHETIC TABLE rows AS SELECT vip FROM visits"
    planned = shell(path, text, *DECLARED, "--epsilon", "0.5", "--plan")
    assert planned.returncode == 0, planned.stderr
    assert "plan of a synthetic table · ε = 0.5, δ = 1e-09" in planned.stdout
    printed = shell(path, text, *DECLARED, "--epsilon", "0.5")
    assert printed.returncode == 0, printed.stderr
    assert "ε = 0.5, δ = 1e-09" in printed.stdout
    assert printed.stdout.startswith("synthetic table of ")
    rows = shell(path, text, *DECLARED, "--epsilon", "0.5", "--csv").stdout.splitlines()
    assert rows[0] == "vip"
    assert set(rows[1:]) <= {"True", "False", '""'}
    refused = shell(path, text, *DECLARED, "--within", "5")
    assert refused.returncode == 1
    assert "epsilon" in refused.stderr


def test_a_budget_that_is_kept(path: Path, tmp_path: Path) -> None:
    book = tmp_path / "visits.ledger"
    first = shell(path, COUNT, *DECLARED, "--epsilon", "0.75", "--budget", "1", "--ledger", book)
    assert "of 1" in first.stdout
    assert "not recorded" not in first.stdout
    again = shell(
        path, COUNT, *DECLARED, "--epsilon", "0.75", "--ledger", book
    )  # the book knows its budget
    assert "stored answer" in again.stdout
    second = shell(path, COUNT + " WHERE vip", *DECLARED, "--epsilon", "0.75", "--ledger", book)
    assert second.returncode == 1
    assert "budget.exceeded" in second.stderr
    assert second.stdout == ""
    assert (
        shell(
            path, COUNT, *DECLARED, "--epsilon", "0.75", "--budget", "2", "--ledger", book
        ).returncode
        == 1
    )


def test_a_new_book_without_a_budget_holds_this_question(path: Path, tmp_path: Path) -> None:
    book = tmp_path / "visits.ledger"
    assert shell(path, COUNT, *DECLARED, "--epsilon", "0.5", "--ledger", book).returncode == 0
    assert sf.Ledger.open(book).budget.parameters["epsilon"] * 2 == 1
    assert (
        shell(
            path, COUNT + " WHERE vip", *DECLARED, "--epsilon", "0.5", "--ledger", book
        ).returncode
        == 1
    )


def test_a_declaration(path: Path, tmp_path: Path) -> None:
    with sf.protect(
        path, unit="user_id", budget=1, max_rows=5, keys={"city": ["Roma", "Bari"]}
    ) as table:
        (tmp_path / "visits.toml").write_text(table.declaration.to_toml(), encoding="utf-8")
    ended = shell(
        path,
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        "--declaration",
        tmp_path / "visits.toml",
        "--epsilon",
        "0.5",
        "--csv",
    )
    assert [line.split(",")[0] for line in ended.stdout.splitlines()] == ["city", "Bari", "Roma"]
    assert (
        shell(path, COUNT, "--declaration", tmp_path / "no.toml", "--epsilon", "1").returncode == 1
    )
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    assert (
        shell(path, COUNT, "--declaration", tmp_path / "bad.toml", "--epsilon", "1").returncode == 1
    )
    assert (
        shell(
            path,
            COUNT,
            "--declaration",
            tmp_path / "visits.toml",
            "--unit",
            "user_id",
            "--epsilon",
            "1",
        ).returncode
        == 2
    )


def test_private_keys_have_a_delta_of_their_own(path: Path) -> None:
    ended = shell(
        path,
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        "--unit",
        "user_id",
        "--max-rows",
        "5",
        "--epsilon",
        "1",
    )
    assert ended.returncode == 0
    assert "δ = 1e-9 of 1e-9" in ended.stdout
    assert (
        shell(
            path,
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
            "--unit",
            "user_id",
            "--max-rows",
            "5",
            "--epsilon",
            "1",
            "--delta",
            "0",
        ).returncode
        == 1
    )


def test_other_options(path: Path) -> None:
    ended = shell(
        path,
        "SELECT COUNT(*) AS n FROM v",
        "--name",
        "v",
        "--relation",
        "replace",
        "--unit",
        "user_id,city",
        "--max-rows",
        "2",
        "--types",
        "age=int16",
        "--max-groups",
        "1",
        "--epsilon",
        "1",
        "--json",
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("SELECT * FROM visits", *DECLARED, "--epsilon", "1"), 1, "sql.star"),
        (("SELECT SUM(spend / age) FROM visits", *DECLARED, "--epsilon", "1"), 1, "sql.bounds"),
        ((COUNT, *DECLARED, "--epsilon", "-1"), 1, "number.not-positive"),
        ((COUNT, *DECLARED, "--epsilon", "x"), 1, "number.text"),
        ((COUNT, "--unit", "nobody", "--max-rows", "5", "--epsilon", "1"), 1, "table.column"),
        ((COUNT, *DECLARED), 2, "epsilon"),
        (
            (COUNT, *DECLARED, "--epsilon", "1", "--within", "25"),
            2,
            "--epsilon or --within",
        ),
        ((COUNT, *DECLARED, "--within", "m=25"), 1, "within.columns"),
        ((COUNT, *DECLARED, "--within", "25", "--within", "26"), 2, "COLUMN=VALUE"),
        (
            ("SELECT AVG(spend) AS m FROM visits", *DECLARED, "--within", "1"),
            1,
            "within.group-size",
        ),
        ((COUNT, "--unit", "user_id", "--within", "25"), 1, "within.learning"),
        ((COUNT, *DECLARED, "--epsilon", "1", "--json", "--csv"), 2, "--json or --csv"),
        ((COUNT, "--bounds", "spend", "--epsilon", "1"), 2, "COLUMN=VALUE"),
        ((COUNT, "--bounds", "spend=3", "--epsilon", "1"), 2, "LOW:HIGH"),
        ((COUNT, "--keys", "=3", "--epsilon", "1"), 2, "COLUMN=VALUE"),
        ((COUNT, "--max-rows", "x", "--epsilon", "1"), 2, "max-rows"),
        ((COUNT, "--nothing", "--epsilon", "1"), 2, "nothing"),
    ],
)
def test_other_ends(path: Path, arguments: tuple[str, ...], code: int, word: str) -> None:
    ended = shell(path, *arguments)
    assert ended.returncode == code
    assert word in ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr


def test_accuracy_first(path: Path, tmp_path: Path) -> None:
    """The budget is what it costs: ln(20)·5/25 for a count in which a unit has five rows."""
    ended = shell(path, COUNT, *DECLARED, "--within", "25", "--ledger", tmp_path / "a.ledger")
    assert ended.returncode == 0, ended.stderr
    assert "cost ε = 0.5992 of 0.5992 · 0 left" in ended.stdout
    assert (
        "stored answer"
        in shell(path, COUNT, *DECLARED, "--within", "25", "--ledger", tmp_path / "a.ledger").stdout
    )
    both = shell(
        path,
        "SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits",
        *DECLARED,
        "--within",
        "n=25",
        "--within",
        "m=1",
        "--group-size",
        "20000",
        "--plan",
    )
    assert both.returncode == 0, both.stderr
    assert "error   n ±" in both.stdout
    few = shell(path, COUNT, *DECLARED, "--within", "25", "--budget", "0.5")
    assert few.returncode == 1
    assert "budget.exceeded" in few.stderr


def test_what_is_not_declared_is_learned(path: Path, tmp_path: Path) -> None:
    """The budget holds the question and its learning, a sixth of it; asked again, both are
    known.
    """
    book = tmp_path / "visits.ledger"
    question = (
        path,
        "SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits",
        "--unit",
        "user_id",
        "--epsilon",
        "0.6",
        "--ledger",
        book,
    )
    plan = shell(*question[:-2], "--plan", "--json")
    assert json.loads(plan.stdout)["error"] == {"n": None, "s": None}
    assert json.loads(plan.stdout)["cost"]["epsilon"] == "0.7"
    first = shell(*question)
    assert first.returncode == 0, first.stderr
    assert "ε = 0.1 more was spent to find limits:" in first.stdout
    assert "cost ε = 0.6 of 0.7" in first.stdout
    assert " 0 left" in first.stdout
    assert "--rules tells the " in first.stdout
    assert "(learned" not in first.stdout
    again = shell(*question, "--rules")
    assert "stored answer" in again.stdout
    assert "rule    a user_id with more than " in again.stdout
    assert "(learned" in again.stdout


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    ended = shell(tmp_path / "visits.parquet", COUNT, "--epsilon", "1")
    assert ended.returncode == 1
    assert "table.path" in ended.stderr
    assert "try   sfumato query " in ended.stderr


def test_a_refusal_shows_the_place(path: Path) -> None:
    ended = shell(path, "SELECT age, city FROM visits", *DECLARED, "--epsilon", "1")
    lines = ended.stderr.splitlines()
    assert lines[1].endswith("SELECT age, city FROM visits")
    assert lines[2].index("^") == lines[1].index("age")


def test_a_failure_says_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.tables.engine import duckdb_engine

    def run(*_: object, **__: object) -> None:
        raise ValueError("a person's name")

    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "tally", run)
    ended = shell(path, COUNT, *DECLARED, "--epsilon", "1")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", sf.Failed.TEXT + "\n")


def test_nothing_that_is_not_needed_is_imported(path: Path) -> None:
    """A question from a shell is quick: no frames, no pictures."""
    line = ["sfumato", "query", str(path), COUNT, *DECLARED, "--epsilon", "1"]
    code = (
        f"import sys\nsys.argv = {line!r}\nfrom sfumato.cli import main\ntry:\n    main()\n"
        f"except SystemExit:\n    pass\n"
    )
    code += "print(sorted({'pandas', 'polars', 'matplotlib', 'scipy.stats'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


SUM = "SELECT SUM(spend) AS s FROM {}"


def test_a_missing_unit_is_refused_where_nobody_can_be_asked(path: Path) -> None:
    question = ("SELECT COUNT(*) AS n FROM visits", "--epsilon", 1)
    refused = shell(path, *question, data=b"")
    assert refused.returncode == 1
    assert "refused [table.unit]" in refused.stderr
    assert "try   --unit user_id" in refused.stderr
    done = shell(path, *question, "--each-row-a-person", "--rules", data=b"")
    assert (done.returncode, done.stderr) == (0, "")
    assert "each row is taken as a different person" in done.stdout


@pytest.mark.parametrize(("reply", "unit"), [(True, ["user_id"]), (False, None)])
def test_a_missing_unit_is_asked_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, reply: bool, unit: object
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("typer.confirm", lambda *_, **__: reply)
    options = query_command.DeclarationOptions()
    request = query_command.QueryRequest(text="", epsilon="1", declaration=options.arguments())
    checked = query_command.check_unit(path, request, is_said=False).declaration
    assert checked["unit"] == unit
    assert checked["each_row_a_person"] is not reply


def test_the_standard_input_is_a_file(tmp_path: Path) -> None:
    """Nine rows of 2.5 are 22.5; the noise has scale 81/500: off by 7.5 has probability 1e-20."""
    text = b"user_id,spend\n" + b"1,2.5\n" * 9
    options = ("--unit", "user_id", "--max-rows", 9, "--bounds", "spend=0:9", "--epsilon", 500)
    types = ("--types", "spend=float64")
    done = run_process("query", "-", SUM.format("stdin"), *options, *types, "--csv", data=text)
    assert done.returncode == 0, done.stderr
    assert 15 < float(done.stdout.split()[1].split(",")[0]) < 30
    pq.write_table(pa.table({"user_id": ["1"], "spend": [2.5]}), tmp_path / "schema.parquet")
    learned = ("--types", tmp_path / "schema.parquet", "--name", "v")
    assert shell("-", SUM.format("v"), *options, *learned, data=text).returncode == 0
    parquet = (tmp_path / "schema.parquet").read_bytes()
    piped = shell("-", SUM.format("stdin"), *options, "--format", "parquet", data=parquet)
    assert piped.returncode == 0
    for data in (b"", b"\xff\xfe\x00", b"a\n"):
        broken = shell("-", SUM.format("stdin"), *options, data=data)
        assert broken.returncode == 1
        assert "Traceback" not in broken.stderr
