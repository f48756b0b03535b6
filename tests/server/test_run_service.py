"""What uvicorn is told, and what is refused before it is told anything."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from sfumato.errors import Refused
from sfumato.server import run_service
from sfumato.server.config import Config
from sfumato.server.http.asgi_app import PATH
from sfumato.server.http.slow_clients import TimedProtocol
from sfumato.server.run_service import options, run
from sfumato.server.workers.processors import available

from .processes import alive, descendants, wait_for
from .service import SQL, Deployment, certificate, free_port, service

pytestmark = pytest.mark.xdist_group("server-running")
SERVE = "from sfumato.cli import main\nmain()"
ALONE = """
from sfumato.server.workers.worker_pool import Pool
async def start(_): ...
Pool.start = start
"""
"""Nothing is released here: no worker has to be started."""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return service(tmp_path, port=4321).config


def test_nothing_is_logged_of_requests(config: Config) -> None:
    uvicorn_options = options(config)
    assert (
        uvicorn_options["access_log"],
        uvicorn_options["server_header"],
        uvicorn_options["proxy_headers"],
    ) == (
        False,
        False,
        False,
    )
    assert (uvicorn_options["host"], uvicorn_options["port"], uvicorn_options["http"]) == (
        "127.0.0.1",
        4321,
        TimedProtocol,
    )
    assert uvicorn.Config("x", **uvicorn_options).limit_concurrency


def test_a_certificate_is_used(config: Config) -> None:
    assert "ssl_certfile" not in options(config)
    uvicorn_options = options(replace(config, tls_cert="a.crt", tls_key="a.key"))
    assert (uvicorn_options["ssl_certfile"], uvicorn_options["ssl_keyfile"]) == ("a.crt", "a.key")


@pytest.mark.parametrize("workers", [1, 3])
def test_one_process_or_several(
    config: Config, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config.folder / "sfumato.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("[server]", f"[server]\nworkers = {workers}"),
        encoding="utf-8",
    )
    calls: list[Any] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **how: calls.append((app, how)))
    monkeypatch.setattr(run_service, "create", lambda _: "an application")
    monkeypatch.setattr(run_service, "CuratorService", Opened)
    monkeypatch.setattr(run_service, "divide", lambda _: divided.append(_))
    divided: list[int] = []
    Opened.ends = []
    monkeypatch.setenv(PATH, "")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    run(path)
    ((app, how),) = calls
    assert (app, how.get("workers")) == (
        ("an application", None)
        if workers == 1
        else ("sfumato.server.http.asgi_app:from_environment", 3)
    )
    assert (run_service.os.environ[PATH] == str(path)) == (workers == 3)
    assert divided == [1] * (workers == 1)  # several are started by one that does not serve
    assert run_service.os.environ["PYTHONSAFEPATH"] == "1"
    assert Opened.ends == ["closed"] * (
        workers == 3
    )  # what is wrong is seen here, and not by each of three


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fault", ["missing file", "unknown column", "port taken"])
def test_an_address_is_announced_only_where_everything_is_right(
    config: Config, fault: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config.folder / "sfumato.toml"
    text = path.read_text(encoding="utf-8").replace("[server]", f"[server]\nworkers = {workers}")
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: None)
    monkeypatch.setattr(run_service, "divide", lambda _: None)
    monkeypatch.setenv(PATH, "")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    announced: list[str] = []
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        if fault == "missing file":
            text = text.replace("visits.parquet", "nothing.parquet")
        elif fault == "unknown column":
            text = text.replace("user_id", "uesr_id")
        else:
            text = text.replace("port = 4321", f"port = {busy.getsockname()[1]}")
        path.write_text(text, encoding="utf-8")
        with pytest.raises(Refused) as refused:
            run(path, lambda: announced.append("early"))
    assert not announced
    assert (refused.value.code == "server.port") == (fault == "port taken")


def test_an_address_is_announced_before_the_port_opens(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: order.append("served"))
    monkeypatch.setattr(run_service, "create", lambda _: "an application")
    monkeypatch.setattr(run_service, "divide", lambda _: None)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    run(config.folder / "sfumato.toml", lambda: order.append("announced"))
    assert order == ["announced", "served"]


class Opened:
    """In place of all that a process has open."""

    ends: list[str]

    def __init__(self, _: Config) -> None: ...

    def close(self) -> None:
        self.ends.append("closed")


def with_tls(folder: Path, cert: str, key: str, *, port: int = 0, workers: int = 1) -> Deployment:
    deployment = service(folder, port=port)
    text = deployment.path.read_text(encoding="utf-8").replace(
        "[server]", f'[server]\nworkers = {workers}\ntls_cert = "{cert}"\ntls_key = "{key}"'
    )
    deployment.path.write_text(text, encoding="utf-8")
    return deployment


def test_it_answers_https_alone(tmp_path: Path) -> None:
    port = free_port()
    certificate(tmp_path, "own")
    deployment = with_tls(tmp_path, "own.crt", "own.key", port=port)
    process = subprocess.Popen(
        [sys.executable, "-c", ALONE + SERVE, "serve", str(deployment.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        trusted = ssl.create_default_context(cafile=str(tmp_path / "own.crt"))
        with httpx.Client(
            verify=trusted, base_url=f"https://127.0.0.1:{port}", timeout=10
        ) as client:
            assert _up(client, process)
            assert client.get("/api/me", headers=deployment.header("ada")).json()["name"] == "ada"
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=10)
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"https://127.0.0.1:{port}/api/health", timeout=10)
    finally:
        process.terminate()
        output, _ = process.communicate(timeout=60)
    assert f"visits, clinic at https://127.0.0.1:{port}/".encode() in output


def _up(client: httpx.Client, process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            return client.get("/api/health").status_code == 200
        except httpx.TransportError:
            time.sleep(0.1)
    return False


WRONG = {
    ("own.crt", "gone.key"): ("tls_key = 'gone.key'", "does not exist"),
    ("gone.crt", "own.key"): ("tls_cert = 'gone.crt'", "does not exist"),
    ("own.crt", "text.pem"): ("tls_key = 'text.pem'", "not a key"),
    ("text.pem", "own.key"): ("tls_cert = 'text.pem'", "not a certificate"),
    ("own.crt", "other.key"): ("tls_key = 'other.key'", "another certificate"),
    ("locked.crt", "locked.key"): ("tls_key = 'locked.key'", "passphrase"),
}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("cert", "key"), WRONG, ids="-".join)
def test_a_certificate_that_cannot_be_used_is_refused_before_the_port_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cert: str, key: str, workers: int
) -> None:
    for name in ("own", "other"):
        certificate(tmp_path, name)
    certificate(tmp_path, "locked", b"a passphrase")
    (tmp_path / "text.pem").write_text("not a key", encoding="utf-8")
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: pytest.fail("the port would be opened"))
    with pytest.raises(Refused) as caught:
        run(with_tls(tmp_path, cert, key, workers=workers).path)
    place, reason = WRONG[cert, key]
    assert caught.value.code == "server.config"
    assert place in caught.value.place
    assert reason in caught.value.reason
    assert str(tmp_path) not in str(caught.value)


def test_the_command_says_what_is_wrong_and_ends(tmp_path: Path) -> None:
    certificate(tmp_path, "own")
    path = with_tls(tmp_path, "own.crt", "gone.key").path
    done = subprocess.run(
        [sys.executable, "-c", SERVE, "serve", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("refused [server.config]  [server] tls_key = 'gone.key'")


@pytest.mark.parametrize("workers", [1, 3])
def test_records_of_something_else_are_refused_before_the_port_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    deployment = service(tmp_path)
    Path(deployment.config.tokens).unlink()
    Path(deployment.config.tokens).write_text("something else " * 100, encoding="utf-8")
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace(
            "[server]", f"[server]\nworkers = {workers}"
        ),
        encoding="utf-8",
    )
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: pytest.fail("the port would be opened"))
    with pytest.raises(Refused) as caught:
        run(deployment.path)
    assert caught.value.code == "server.records"


def test_a_budget_that_the_book_does_not_say_is_refused_once_for_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = service(tmp_path)
    text = deployment.path.read_text(encoding="utf-8").replace("[server]", "[server]\nworkers = 3")
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: None)
    monkeypatch.setenv(PATH, "")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    deployment.path.write_text(text, encoding="utf-8")
    run(deployment.path)
    monkeypatch.setattr(
        uvicorn, "run", lambda *_, **__: pytest.fail("three processes would fail again and again")
    )
    deployment.path.write_text(
        text.replace("budget = 1000000", "budget = 2000000"), encoding="utf-8"
    )
    with pytest.raises(Refused, match=r"ledger\.budget"):
        run(deployment.path)


HOSTILE = (
    "duckdb",
    "hashlib",
    "json",
    "multiprocessing",
    "numpy",
    "pyarrow",
    "sfumato",
    "struct",
    "uvicorn",
)
SERVING = (
    "import sys\nfrom sfumato.server.run_service import run\nif __name__ == '__main__':\n    "
    "run(sys.argv[1])\n"
)


def several(folder: Path, cwd: Path) -> tuple[Deployment, int, subprocess.Popen[bytes]]:
    """A service of two processes that listen, with their workers, in a session of its own; started
    by a script, as `sfumato serve` is, in a directory.
    """
    port = free_port()
    deployment = service(folder, port=port)
    deployment.path.write_text(
        deployment.path.read_text(encoding="utf-8").replace("[server]", "[server]\nworkers = 2"),
        encoding="utf-8",
    )
    script = folder / "bin" / "serve.py"
    script.parent.mkdir()
    script.write_text(SERVING, encoding="utf-8")
    return (
        deployment,
        port,
        subprocess.Popen(
            [sys.executable, str(script), str(deployment.path)],
            cwd=cwd,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        ),
    )


def test_all_processes_end_with_the_first_and_import_nothing_from_where_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent is killed while a worker is in the middle of a question: no process is left that
    answers, holds the port, or reads on. And until then none of them has run a module of the
    working directory, whose name is that of one that they import.
    """
    cwd, temporary = tmp_path / "cwd", tmp_path / "temporary"
    for folder in (cwd, temporary):
        folder.mkdir()
    for name in HOSTILE:
        (cwd / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\nraise SystemExit(3)\n",
            encoding="utf-8",
        )
    monkeypatch.setenv("TMPDIR", str(temporary))
    deployment, port, process = several(tmp_path, cwd)
    pids: list[int] = []
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert _up(client, process)
            asking = threading.Thread(target=_ask, args=(f"http://127.0.0.1:{port}", deployment))
            asking.start()
            history = ("/api/datasets/visits/history", deployment.header("owner"))
            assert wait_for(
                lambda: any(
                    entry["kind"] == "charge"
                    for entry in client.get(history[0], headers=history[1]).json()["entries"]
                )
            )
        assert wait_for(lambda: len(_reading(process.pid)) == 2)
        pids = descendants(process.pid)
        assert not (tmp_path / "ran").exists()
        assert any(temporary.glob("sfumato-*"))
        process.kill()
        process.wait()
        assert wait_for(lambda: not any(map(alive, pids)), 5)
        asking.join()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))
            again.listen()
        subprocess.run(
            [sys.executable, "-c", "from sfumato.tables.engine.spills import sweep\nsweep()"],
            check=True,
            timeout=60,
        )
        assert not any(temporary.glob("sfumato-*"))
    finally:
        for pid in (process.pid, *pids):
            if alive(pid):
                os.kill(pid, 9)
        process.wait()


def _reading(parent: int) -> list[int]:
    return [
        pid
        for pid in descendants(parent)
        if b"sfumato.server.workers.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def _ask(url: str, deployment: Deployment) -> None:
    """A question of the longest class, whose reply never comes."""
    with pytest.raises(httpx.TransportError):
        httpx.post(
            f"{url}/api/datasets/visits/release",
            json={"sql": SQL, "epsilon": "1"},
            headers={**deployment.header("ada"), "Idempotency-Key": "k"},
            timeout=60,
        )


def test_a_service_that_ends_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes keep apart who serves and who reads; at its end they are gone, with their
    directories.
    """
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    port = free_port()
    deployment = service(tmp_path, port=port)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, "serve", str(deployment.path)], stdout=subprocess.DEVNULL
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
            assert _up(client, process)
        pids = descendants(process.pid)
        assert pids
        serving, reading = (
            os.sched_getaffinity(process.pid),
            set().union(*map(os.sched_getaffinity, pids)),
        )
        assert not serving & reading or len(available()) < 2
        assert any((tmp_path / "temporary").glob("sfumato-*"))
    finally:
        process.terminate()
        process.wait(60)
    assert not any(map(alive, pids))
    assert not any((tmp_path / "temporary").iterdir())
