"""`sfumato mcp` and `sfumato verify-claim`: what is refused before anything is served or asked. The
tools themselves are tested in tests/mcp, and in front of a service in tests/server.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.commands import app
from sfumato.errors import Refused

URL = "http://127.0.0.1:9"
CLAIM = {
    "dataset": "visits",
    "sql": "SELECT COUNT(*) AS n FROM visits",
    "epsilon": "0.1",
    "entry": 2,
    "digest": "24a80af3",
    "column": "n",
    "row": {},
    "value": 20013,
}


def refused(*arguments: str) -> Refused:
    with pytest.raises(Refused) as caught:
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    return caught.value


@pytest.mark.parametrize(
    ("token", "options", "code"),
    [
        ("", [], "mcp.token"),
        ("sft_no", [], "client.token"),
        ("", ["--per-question", "-1"], "mcp.limit"),
        ("", ["--in-all", "-0.5"], "mcp.limit"),
        ("", ["--in-all", "much"], "number"),
    ],
)
def test_what_is_refused(
    token: str, options: list[str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_TOKEN", token)
    refusal = refused("mcp", URL, *options)
    assert refusal.code.startswith(code), refusal.code
    assert refusal.rewrite


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "much"},
        {"value": "NaN"},
        {"epsilon": None},
        {"within": "5"},
        {"row": ["Roma"]},
        {"entry": "two"},
        {"sql": ...},
    ],
    ids=str,
)
def test_a_claim_that_cannot_be_read(
    changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_TOKEN", "sft_" + "a" * 60)
    claim = {name: value for name, value in {**CLAIM, **changes}.items() if value is not ...}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(claim), encoding="utf-8")
    refusal = refused("verify-claim", str(path), URL)
    assert refusal.code == "mcp.claim"
    assert json.loads(refusal.rewrite)["digest"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert refused("verify-claim", str(tmp_path / "none.json"), URL).code == "table.path"
