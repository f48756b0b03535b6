"""What uvicorn is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sfumato.server import running
from sfumato.server.app import PATH
from sfumato.server.config import Config
from sfumato.server.protocol import Protocol
from sfumato.server.running import options, run

from .service import service


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return service(tmp_path, port=4321).config


def test_nothing_is_logged_of_requests(config: Config) -> None:
    found = options(config)
    assert (found["access_log"], found["server_header"], found["proxy_headers"]) == (False, False, False)
    assert (found["host"], found["port"], found["http"]) == ("127.0.0.1", 4321, Protocol)
    assert uvicorn.Config("x", **found).limit_concurrency


def test_a_certificate_is_used(config: Config) -> None:
    assert "ssl_certfile" not in options(config)
    found = options(replace(config, tls_cert="a.crt", tls_key="a.key"))
    assert (found["ssl_certfile"], found["ssl_keyfile"]) == ("a.crt", "a.key")


@pytest.mark.parametrize("workers", [1, 3])
def test_one_process_or_several(config: Config, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = config.folder / "sfumato.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("[server]", f"[server]\nworkers = {workers}"), encoding="utf-8")
    calls: list[Any] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **how: calls.append((app, how)))
    monkeypatch.setattr(running, "create", lambda _: "an application")
    monkeypatch.setenv(PATH, "")
    run(path)
    ((app, how),) = calls
    assert (app, how.get("workers")) == (("an application", None) if workers == 1 else ("sfumato.server.app:from_environment", 3))
    assert (running.os.environ[PATH] == str(path)) == (workers == 3)
