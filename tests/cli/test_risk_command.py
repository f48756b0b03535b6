"""`sfumato risk`, as a shell sees it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sfumato.cli import risk_command
from sfumato.cli.commands import app, main
from sfumato.cli.risk_command import run_risk
from sfumato.errors import Refused
from sfumato.tables.engine.source_files import SUFFIXES

from .command_line import run_inside, run_process

ROWS = "\n".join(
    f"{'fm'[i % 2]},{20 + i % 30},{'Roma' if i % 3 else 'Bari'},{'flu' if i % 4 == 0 else 'none'}"
    for i in range(60)
)


shell = partial(run_inside, "risk", width=100)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(f"sex,age,city,disease\n{ROWS}\n", encoding="utf-8")
    return tmp_path / "people.csv"


def test_it_writes_a_page_and_says_what_is_in_it(file: Path) -> None:
    arguments = (
        "people.csv",
        "--columns",
        "sex,age",
        "--columns",
        "city",
        "--sensitive",
        "disease",
        "--epsilon",
        "1",
        "--out",
        "out/risk.html",
    )
    done = run_process("risk", *arguments, at=file.parent)
    assert done.returncode == 0, done.stderr
    assert "By sex, age and city" in done.stdout
    assert "not private" in done.stdout
    assert "Written to" in done.stdout
    page = file.parent / "out" / "risk.html"
    assert "is not private itself" in page.read_text(encoding="utf-8")
    assert (
        page.stat().st_mode & 0o777 == 0o600
    )  # a risk report is for its user alone, also where the umask allows others to read


def test_a_refusal_is_1_and_leaves_nothing_behind(file: Path) -> None:
    done = shell("people.csv", "--columns", "sex,nobody", at=file.parent)
    assert done.returncode == 1
    assert done.stderr.startswith("refused [attacks.columns]")
    assert "Traceback" not in done.stderr
    assert not (file.parent / "risk.html").exists()


@pytest.mark.parametrize(
    ("path", "columns", "out", "code"),
    [
        ("people.csv", [","], "risk.html", "attacks.columns"),
        ("nothing.csv", ["sex"], "risk.html", "table.path"),
        ("people.csv", ["sex"], "people.csv/risk.html", "attacks.out"),
        ("people.csv", ["sex"], ".", "attacks.out"),
        ("people.csv", ["sex"], "x" * 300, "attacks.out"),
    ],
    ids=["none", "file", "out", "directory", "long"],
)
def test_what_is_refused_before_anything_is_read(
    file: Path, path: str, columns: list[str], out: str, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        run_risk(file.parent / path, columns, None, (), file.parent / out)
    assert refused.value.code == code
    assert not (file.parent / "risk.html").exists()


def test_out_is_looked_at_before_the_attack(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def attacked(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(risk_command, "_build_report", attacked)
    with pytest.raises(Refused, match=r"attacks\.out"):
        run_risk(file, ["sex"], None, (), file.parent)


def test_a_refused_run_makes_no_directory(file: Path) -> None:
    with pytest.raises(Refused):
        run_risk(file, ["sex", "nobody"], None, (), file.parent / "new" / "deep" / "risk.html")
    assert not (file.parent / "new").exists()


def test_what_to_type_is_told_for_a_shell(file: Path) -> None:
    with pytest.raises(Refused) as refused:
        run_risk(file.parent / "nothing.csv", ["sex"], None, (), file.parent / "risk.html")
    assert refused.value.rewrite.startswith("sfumato risk ")
    with pytest.raises(Refused) as refused:
        run_risk(file, ["sxe"], None, (), file.parent / "risk.html")
    assert refused.value.rewrite == "'sex'"


def test_epsilons_may_have_commas_and_be_large(file: Path) -> None:
    done = shell(
        "people.csv", "--columns", "sex,age", "--epsilon", "1,710", "--epsilon", "2", at=file.parent
    )
    assert done.returncode == 0, done.stderr
    assert all(f"at ε = {epsilon}" in done.stdout for epsilon in (1, 710, 2))


@pytest.mark.parametrize("place", ["report", "html"])
def test_a_failure_charges_nothing_and_says_nothing_else(
    file: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("Ada has the flu")

    if place == "html":
        monkeypatch.setattr("sfumato.attacks.report.risk_page.page", broken)
    else:
        monkeypatch.setattr("sfumato.attacks.report.risk.risk_report", broken)
    monkeypatch.setattr(
        "sys.argv",
        [
            "sfumato",
            "risk",
            str(file),
            "--columns",
            "sex",
            "--epsilon",
            "1",
            "--out",
            str(file.parent / "new" / "risk.html"),
        ],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr().err
    assert ended.value.code == 3
    assert "the report could not be made" in output
    assert "stays charged" not in output
    assert "Ada" not in output
    assert not (file.parent / "new").exists()


def test_wrong_usage_is_2(file: Path) -> None:
    assert shell("people.csv", at=file.parent).returncode == 2


@pytest.mark.parametrize("command", ["risk", "query"])
def test_help_names_the_files_that_are_read_and_no_others(command: str) -> None:
    """It promised Arrow files, which are refused."""
    group: Any = get_command(app)
    params = group.commands[command].params
    argument = next(param for param in params if param.name == "path")
    named = {
        kind
        for kind in ("Parquet", "CSV", "DuckDB", "Arrow", "Feather", "Excel")
        if kind in argument.help
    }
    assert named == set(SUFFIXES.values())
