"""The one version of the format: what is read, and what is refused untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.ledger.schema import APPLICATION, SCHEMA

from .books import refusal, sql

STORED = Path(__file__).parent.parent / "vectors" / "stored" / "ledger-v1.sqlite"
"""Written by the first version; test_verify reads it to its end."""


def test_the_stored_book_has_the_version_that_is_known() -> None:
    assert int.from_bytes(STORED.read_bytes()[60:64], "big") == SCHEMA == 1
    assert int.from_bytes(STORED.read_bytes()[68:72], "big") == APPLICATION


@pytest.mark.parametrize("version", [0, 2, 99])
def test_another_schema_is_refused(version: int, tmp_path: Path) -> None:
    """With the command that helps, and by whoever only looks, too."""
    path = tmp_path / "a.ledger"
    path.write_bytes(STORED.read_bytes())
    sql(path, f"PRAGMA user_version={version}")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with refusal("ledger.version") as caught:
        sf.Ledger.open(path, dataset="visits")
    assert f"schema {version}" in str(caught.value)
    assert caught.value.rewrite == "pip install --upgrade sfumato"
    with refusal("ledger.version"), reading(path):
        raise AssertionError
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
