"""`-` is the standard input: the same file as a copy of it, which does not stay."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from sfumato.cli.standard_input import input_file

from ..refusing import refusing


def test_a_path_is_that_file(tmp_path: Path) -> None:
    with input_file(tmp_path / "a.csv", "csv") as path:
        assert path == tmp_path / "a.csv"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_dash_is_a_copy_that_goes(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n\xff")))
    with input_file(Path("-"), form) as path:
        assert path.name == f"stdin.{form}"
        assert path.read_bytes() == b"a,b\n\xff"
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.parent.exists()


def test_another_format_is_refused() -> None:
    with refusing("table.path"), input_file(Path("-"), "xls"):
        pass
