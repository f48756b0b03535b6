"""`sfumato token`: make, list, revoke."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.commands import app
from sfumato.errors import Refused

TOML = '[datasets.visits]\nsource = "visits.parquet"\nbudget = 1\n'


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "sfumato.toml").write_text(TOML, encoding="utf-8")
    return str(tmp_path / "sfumato.toml")


def ran(*arguments: str) -> str:
    lines = CliRunner().invoke(app, ["token", *arguments], catch_exceptions=False)
    assert lines.exit_code == 0
    return lines.stdout


def test_a_token_is_made_listed_and_revoked(path: str) -> None:
    token = ran(path, "--name", "ada", "--dataset", "visits", "--days", "7").strip()
    id_, secret = token.split("_", 2)[1:]
    listed = ran(path)
    assert id_ in listed
    assert "analyst" in listed
    assert "until" in listed
    assert secret not in listed
    assert ran(path, "--revoke", id_) == f"revoked {id_}\n"
    assert "revoked" in ran(path)
    with pytest.raises(Refused):
        ran(path, "--revoke", id_)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--name", "ada", "--dataset", "other"],
        ["--name", "a b"],
        ["--name", "ada", "--role", "king"],
    ],
    ids=lambda case: case[-1],
)
def test_what_is_refused(path: str, wrong: list[str]) -> None:
    with pytest.raises(Refused):
        ran(path, *wrong)


def test_wrong_usage(path: str) -> None:
    assert CliRunner().invoke(app, ["token", path, "--name", "ada", "--revoke", "x"]).exit_code == 2
