"""`sfumato serve`: what it prepares, prints and refuses."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli import serve_command
from sfumato.cli.commands import app
from sfumato.server import run_service
from sfumato.server.config import load
from sfumato.server.request_store import RequestStore
from sfumato.server.roles import ROLES


def test_the_demo_is_a_service(tmp_path: Path) -> None:
    path, tokens = serve_command.prepare_demo(tmp_path, "127.0.0.1", 8000)
    config = load(path)
    state = RequestStore(config.tokens)
    assert set(tokens) == set(ROLES)
    assert {row.role for row in state.tokens()} == set(ROLES)
    state.close()
    assert list(config.datasets) == ["visits"]


def test_the_demo_prints_its_address_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[bool] = []

    def run(path: Path, announce: Callable[[], None]) -> None:
        announce()
        served.append(path.exists())

    monkeypatch.setattr(run_service, "run", run)
    monkeypatch.setattr(serve_command.signal, "signal", lambda *_: None)
    result = CliRunner().invoke(app, ["serve", "--demo", "--port", "8123"])
    assert (result.exit_code, served) == (0, [True])
    assert "http://127.0.0.1:8123/" in result.output
    assert result.output.count("sft_") == len(ROLES)


def test_the_files_of_the_demo_are_for_its_user_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: dict[str, int] = {}

    def look(path: Path, _: object) -> None:
        (path.parent / "demo.ledger").touch()  # as the workers would
        modes.update({item.name: item.stat().st_mode & 0o777 for item in path.parent.iterdir()})

    monkeypatch.setattr(run_service, "run", look)
    monkeypatch.setattr(serve_command.signal, "signal", lambda *_: None)
    before = os.umask(0o022)
    try:
        CliRunner().invoke(app, ["serve", "--demo", "--port", "8123"])
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert {"demo.tokens", "demo.ledger", "sfumato.toml", "visits.parquet"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_a_file_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = serve_command.prepare_demo(tmp_path, "::1", 8000)
    served: list[tuple[Path, int | None]] = []

    def run(path: Path, announce: Callable[[], None], *, postgres: int | None = None) -> None:
        announce()
        served.append((path, postgres))

    monkeypatch.setattr(run_service, "run", run)
    alone, both = (
        CliRunner().invoke(app, ["serve", str(path), *more])
        for more in ([], ["--postgres", "5433"])
    )
    assert (alone.exit_code, both.exit_code, served) == (0, 0, [(path, None), (path, 5433)])
    assert "visits at http://[::1]:8000/" in alone.output
    assert "postgresql://[::1]:5433/" in both.output


@pytest.mark.parametrize(
    "arguments", [[], ["sfumato.toml", "--demo"], ["--demo", "--port", "0"], ["--demo", "--check"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["serve", *arguments]).exit_code == 2
