"""`sfumato local` as a shell sees it: a question, reports, an estimate."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.local import Direct, OneBit, Panel, Questionnaire, Sketch, restore

from .command_line import run_inside

shell = partial(run_inside, "local")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """6000 people in CSV and in Parquet."""
    tmp_path = tmp_path_factory.mktemp("data")
    rows = {
        "smokes": ["yes", "no", "no"] * 2000,
        "age": [30, 41, 19] * 2000,
        "name": ["ada", "bo", "cy"] * 2000,
    }
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows))
        table.writeheader()
        table.writerows({name: values[i] for name, values in rows.items()} for i in range(6000))
    pq.write_table(pa.table(rows), tmp_path / "people.parquet")
    return tmp_path


@pytest.fixture
def folder(data: Path, tmp_path: Path) -> Path:
    """The same files, in a folder of one's own."""
    for path in data.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def ask(folder: Path, *arguments: object) -> Path:
    ended = shell("ask", *arguments)
    assert ended.returncode == 0, ended.stderr
    path = folder / "question.json"
    path.write_text(ended.stdout, encoding="utf-8")
    return path


CASES: dict[str, tuple[tuple[object, ...], str, list[str]]] = {
    "direct": (
        ("direct", "--epsilon", 1, "--categories", "yes,no"),
        "smokes",
        ["category", "frequency", "low", "high"],
    ),
    "unary": (
        ("unary", "--epsilon", "1/2", "--categories", "yes,no"),
        "smokes",
        ["category", "frequency", "low", "high"],
    ),
    "hashing": (
        ("hashing", "--epsilon", 2, "--categories", "yes,no"),
        "smokes",
        ["category", "frequency", "low", "high"],
    ),
    "hadamard-sketch": (
        ("hadamard-sketch", "--epsilon", 2, "--categories", "yes,no"),
        "smokes",
        ["category", "frequency", "low", "high"],
    ),
    "rappor": (
        ("rappor", "--epsilon", 2, "--categories", "yes,no"),
        "smokes",
        ["category", "frequency", "low", "high"],
    ),
    "one-bit": (
        ("one-bit", "--epsilon", 1, "--low", 0, "--high", 100),
        "age",
        ["mean", "low", "high"],
    ),
    "piecewise": (
        ("piecewise", "--epsilon", 3, "--low", 0, "--high", 100, "--unit", "person"),
        "age",
        ["mean", "low", "high"],
    ),
    "ordinal": (
        ("ordinal", "--epsilon", 1, "--edges", "0,20,40,60"),
        "age",
        ["bucket", "frequency", "up to here", "low", "high"],
    ),
    "prefix": (
        ("prefix", "--epsilon", 6, "--length", 3),
        "name",
        ["text", "frequency", "low", "high"],
    ),
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", CASES)
def test_end_to_end(folder: Path, kind: str, ending: str) -> None:
    arguments, column, names = CASES[kind]
    question, reports = ask(folder, *arguments), folder / "reports.sflr"
    ended = shell(
        "perturb",
        folder / f"people.{ending}",
        "--question",
        question,
        "--column",
        column,
        "--out",
        reports,
    )
    assert ended.returncode == 0, ended.stderr
    assert "6000 reports" in ended.stdout
    assert "Pure(" in ended.stdout
    table = shell("estimate", reports, "--question", question, "--csv")
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert list(rows[0]) == names
    assert all(float(row["low"]) <= float(row["high"]) for row in rows)
    output: dict[str, Any] = json.loads(
        shell(
            "estimate",
            reports,
            "--question",
            question,
            "--json",
            "--simultaneous",
            "--confidence",
            "0.9",
        ).stdout
    )
    assert output["reports"] == 6000
    assert output["confidence"] == "0.9"
    assert [list(row) for row in output["rows"]] == [names] * len(output["rows"])
    text = shell("estimate", reports, "--question", question)
    assert text.stdout.splitlines()[0].split() == " ".join(names).split()
    assert "6000 reports" in text.stdout.splitlines()[-1]


def test_reports_of_several_files_add_up(folder: Path) -> None:
    question = ask(folder, "direct", "--epsilon", 5, "--categories", "yes,no")
    for name in "ab":
        shell(
            "perturb",
            folder / "people.csv",
            "--question",
            question,
            "--column",
            "smokes",
            "--out",
            folder / name,
        )
    output = json.loads(
        shell("estimate", folder / "a", folder / "b", "--question", question, "--json").stdout
    )
    assert output["reports"] == 12000
    assert abs(output["rows"][0]["frequency"] - 1 / 3) < 0.05


def test_values_outside_are_counted_for_the_owner_alone(folder: Path) -> None:
    """The command says how many values a report could not say; the reports do not."""
    people = folder / "answers.csv"
    people.write_text("smokes,age\n" + "yes,20\n" * 7 + "Yes,200\n" * 3, encoding="utf-8")
    for kind, column, words in (
        (("direct", "--categories", "yes,no"), "smokes", "3 of 10 values of smokes are none of "),
        (("piecewise", "--low", 0, "--high", 99), "age", "3 of 10 values of age are no number "),
    ):
        question, out = ask(folder, *kind, "--epsilon", 1), folder / "out"
        options = ("--question", question, "--column", column, "--out", out)
        ended = shell("perturb", people, *options)
        assert ended.stderr.startswith(words)
        assert ended.stdout.startswith("10 reports of ")
        assert out.stat().st_size < 10 * 30
    inside = ask(folder, "direct", "--epsilon", 1, "--categories", "yes,Yes")
    ended = shell("perturb", people, "--question", inside, "--column", "smokes", "--out", out)
    assert ended.stderr == ""
    assert "10 reports of 1 byte in out" in ended.stdout


def test_several_questions_name_their_columns(folder: Path) -> None:
    oracle = Questionnaire(
        {
            "smokes": Direct(epsilon=1, categories=["yes", "no"]),
            "age": OneBit(epsilon=1, low=0, high=100),
        }
    )
    question, reports = folder / "question.json", folder / "reports"
    question.write_text(json.dumps(oracle.question), encoding="utf-8")
    assert (
        shell("perturb", folder / "people.csv", "--question", question, "--out", reports).returncode
        == 0
    )
    rows = list(
        csv.DictReader(
            io.StringIO(shell("estimate", reports, "--question", question, "--csv").stdout)
        )
    )
    assert [row["question"] for row in rows] == ["smokes", "smokes", "age"]
    assert (
        shell(
            "perturb",
            folder / "people.csv",
            "--question",
            question,
            "--column",
            "age",
            "--out",
            reports,
        ).returncode
        == 2
    )


@pytest.mark.parametrize("category", [7, True, None], ids=str)
def test_categories_that_are_no_text_in_csv(folder: Path, category: Any) -> None:
    (folder / "few.csv").write_text(
        "x\n" + {7: "7", True: "true", None: '""'}[category] + "\n", encoding="utf-8"
    )
    (folder / "q.json").write_text(
        json.dumps(Direct(epsilon=20, categories=[category, "other"]).question), encoding="utf-8"
    )
    assert (
        shell(
            "perturb",
            folder / "few.csv",
            "--question",
            folder / "q.json",
            "--column",
            "x",
            "--out",
            folder / "r",
        ).returncode
        == 0
    )
    output = json.loads(
        shell("estimate", folder / "r", "--question", folder / "q.json", "--json").stdout
    )
    assert round(output["rows"][0]["frequency"]) == 1


def test_refusals(folder: Path) -> None:
    question = ask(folder, "direct", "--epsilon", 1, "--categories", "yes,maybe")
    reports = folder / "reports"

    def perturb(
        path: str, column: str, out: Path = reports, request: Path = question
    ) -> subprocess.CompletedProcess[str]:
        return shell(
            "perturb", folder / path, "--question", request, "--column", column, "--out", out
        )

    for ended, code in (
        (perturb("people.csv", "other"), "table.column"),
        (perturb("people.parquet", "other"), "table.column"),
        (perturb("none.csv", "smokes"), "table.path"),
        (perturb("none.parquet", "smokes"), "table.path"),
        (perturb("people.csv", "smokes", request=folder / "none.json"), "table.path"),
        (perturb("people.csv", "smokes", request=folder / "people.csv"), "local.question"),
        (shell("estimate", folder / "people.csv", "--question", question), "local.report"),
    ):
        assert ended.returncode == 1
        assert f"refused [{code}]" in ended.stderr
        assert "no" not in ended.stderr.split("\n")[0].split()  # the value is not named
    good = ask(folder, "direct", "--epsilon", 1, "--categories", "yes,no")
    ended = perturb("people.csv", "smokes", out=folder / "missing" / "reports", request=good)
    assert "refused [local.out]" in ended.stderr
    number = ask(folder, "one-bit", "--epsilon", 1, "--low", 0, "--high", 1)
    for path, column, public in (
        ("people.csv", "smokes", question),
        ("people.csv", "name", number),
    ):
        assert (
            perturb(path, column, request=public).returncode == 0
        )  # whether there is a report does not depend on the value


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "nothing", "--epsilon", 1),
        ("ask", "several", "--epsilon", 1),
        ("ask", "unary", "--epsilon", 1),
        ("ask", "unary", "--epsilon", 1, "--categories", "a,b", "--low", 0),
        ("estimate", "x", "--question", "y", "--json", "--csv"),
        ("perturb", "x"),
    ],
    ids=str,
)
def test_wrong_usage(arguments: tuple[object, ...]) -> None:
    assert shell(*arguments).returncode == 2


def test_a_question_is_that_of_its_oracle(folder: Path) -> None:
    path = ask(folder, "hadamard-sketch", "--epsilon", "1/3", "--categories", "a,b")
    assert restore(path.read_text(encoding="utf-8")) == Sketch(
        epsilon="1/3", categories=["a", "b"], hadamard=True
    )


def test_malformed_reports_may_be_left_out(folder: Path) -> None:
    question, reports = (
        ask(folder, "direct", "--epsilon", 1, "--categories", "yes,no"),
        folder / "reports",
    )
    shell(
        "perturb",
        folder / "people.csv",
        "--question",
        question,
        "--column",
        "smokes",
        "--out",
        reports,
    )
    data = bytearray(reports.read_bytes())
    data[-1] = 9
    reports.write_bytes(bytes(data))
    assert "refused [local.report]" in shell("estimate", reports, "--question", question).stderr
    assert (
        json.loads(shell("estimate", reports, "--question", question, "--drop", "--json").stdout)[
            "reports"
        ]
        == 5999
    )


def test_a_panel(tmp_path: Path) -> None:
    """Its reports are estimated wave by wave. They are not made here: that takes a memory for each
    person. Nor is its question written here.
    """
    panel = Panel(Direct(epsilon=2, categories=["yes", "no"]), waves=3)
    question, reports = tmp_path / "question.json", tmp_path / "reports.sflr"
    question.write_text(json.dumps(panel.question), encoding="utf-8")
    reports.write_bytes(panel.perturb([["yes", "no", "no"]] * 900).to_bytes())
    output = json.loads(shell("estimate", reports, "--question", question, "--json").stdout)
    assert [(row["wave"], row["category"]) for row in output["rows"]] == [
        (wave, name) for wave in range(3) for name in ("yes", "no")
    ]
    assert (
        "together keep Pure(2) for each person"
        in shell("estimate", reports, "--question", question).stdout
    )
    refused = shell(
        "perturb",
        "people.csv",
        "--question",
        question,
        "--column",
        "smokes",
        "--out",
        tmp_path / "out",
    )
    assert refused.returncode != 0
    assert "local.panel" in refused.stderr
    assert shell("ask", "panel", "--epsilon", "1").returncode != 0
