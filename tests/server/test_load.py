"""Fifty clients at once: plans and stored answers, beside a bare route of the same framework on the
same server.

*Rate*      Requests for each second that the serving process computes, as the operating system
            counts them: other work on the machine makes clients wait, and does not enter. The bare
            route is FastAPI's, served by the same uvicorn with the same settings, and says one
            constant thing. Only the long run compares rates, and asks the bare route.
*Flat*      The serving process does not grow while it serves, after the first round of everything.
*Counted*   Meanwhile somebody releases: every answer that was given is a charge in the book, and
            there is no other.
To run the long one alone, and read what was found: pytest -s -m slow tests/server/test_load.py
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from .service import SQL, free_port
from .service import service as declared
from .storm import Served, Storm, several, wait_for

pytestmark = pytest.mark.xdist_group("server-load")
CLIENTS = 50
LEAST = 0.3
QUESTION = {"sql": SQL, "epsilon": "0.125"}
TICKS = os.sysconf("SC_CLK_TCK")
BARE = """
import uvicorn
from fastapi import FastAPI
from sfumato.server.config import load
from sfumato.server.run_service import options
app = FastAPI()
@app.get("/bare")
async def bare() -> dict[str, bool]:
    return {{"ok": True}}
uvicorn.run(app, **{{**options(load({path!r})), "port": {port}}})
"""


@dataclass(frozen=True)
class Target:
    """A request to be sent over and over to a process."""

    port: int
    process: int
    request: bytes

    def computed(self) -> float:
        """Seconds that the process has computed so far."""
        stat = (
            Path(f"/proc/{self.process}/stat")
            .read_text(encoding="ascii")
            .rpartition(")")[2]
            .split()
        )
        return (int(stat[11]) + int(stat[12])) / TICKS

    @property
    def memory(self) -> int:
        """Bytes that it holds."""
        return int(
            Path(f"/proc/{self.process}/statm").read_text(encoding="ascii").split()[1]
        ) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Measured:
    requests: int = 0
    seconds: float = 0.0
    wrong: int = 0

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with several(tmp_path_factory.mktemp("load"), 1, deadline="[1]") as running_service:
        yield running_service


@contextmanager
def bare_route(folder: Path) -> Iterator[Target]:
    """Serve the bare route from a process of its own."""
    port, path = free_port(), declared(folder).path
    process = subprocess.Popen([sys.executable, "-c", BARE.format(path=str(path), port=port)])
    try:
        wait_for(f"http://127.0.0.1:{port}/bare")
        yield Target(port, process.pid, _request("GET", "/bare"))
    finally:
        process.terminate()
        process.wait(60)


def _request(method: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: sfumato",
        *(f"{name}: {value}" for name, value in headers.items()),
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + content


async def _loaded(target: Target, seconds: float, into: Measured) -> None:
    """Every client sends the next request when it has the reply to the last."""
    end, before = time.monotonic() + seconds, target.computed()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
        while time.monotonic() < end:
            writer.write(target.request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(
                int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            )
            into.requests += 1
            into.wrong += not head.startswith(b"http/1.1 200 ")
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    into.seconds += target.computed() - before


def test_fifty_clients(service: Served) -> None:
    put_under_load(service, {}, 6, growth=1.02)


@pytest.mark.slow
def test_fifty_clients_for_long(service: Served, tmp_path: Path) -> None:
    with bare_route(tmp_path) as bare:
        rates = put_under_load(service, {"bare": bare}, 600, growth=1.05)
    assert rates["plan"] >= LEAST * rates["bare"], rates
    assert rates["stored"] >= LEAST * rates["bare"], rates


def put_under_load(
    service: Served, more_targets: dict[str, Target], seconds: int, *, growth: float
) -> dict[str, float]:
    """Check what has to hold under load; the rate of each target. A short run allows less growth
    of memory: as much for each request as a run of 15 seconds and 5 %.
    """
    port, header = int(service.url.rpartition(":")[2]), service.deployment.header("ada")
    first = httpx.post(
        f"{service.url}/api/datasets/visits/release",
        json=QUESTION,
        headers={**header, "Idempotency-Key": "load"},
        timeout=60,
    )
    assert first.status_code == 200
    targets = {
        **more_targets,
        "plan": Target(
            port,
            service.process.pid,
            _request("POST", "/api/datasets/visits/plan", QUESTION, **header),
        ),
        "stored": Target(
            port,
            service.process.pid,
            _request(
                "POST",
                "/api/datasets/visits/release",
                QUESTION,
                **header,
                **{"Idempotency-Key": "load"},
            ),
        ),
    }
    warm, measured = Measured(), {name: Measured() for name in targets}
    for target in targets.values():
        asyncio.run(_loaded(target, 0.2, warm))
    before, storm = (
        _charges(service),
        Storm(
            service, "clinic", "stay", "0.125", {"releasing": "clinic-ada"}, first=1000 * seconds
        ),
    )
    threads, rounds, memory = storm.begin(), 5, []
    for _ in range(rounds):
        for name, target in targets.items():
            asyncio.run(_loaded(target, seconds / rounds / len(targets), measured[name]))
        memory.append(targets["plan"].memory)
    storm.stop.set()
    for thread in threads:
        thread.join(60)
    charges = _charges(service)
    figures = {
        name: {
            "requests": result.requests,
            "for each second of the processor": round(result.rate),
            "wrong": result.wrong,
        }
        for name, result in measured.items()
    }
    more = {
        "memory in MB": [round(size / 1e6, 1) for size in memory],
        "releases": dict(storm.ends),
        "charges": charges,
    }
    sys.stdout.write(f"\n{CLIENTS} clients for {seconds} s: {json.dumps({**figures, **more})}\n")
    assert sum(result.wrong for result in (warm, *measured.values())) == 0
    assert max(memory) <= growth * memory[0], memory
    assert set(storm.ends) <= {"answered", "server.deadline"}
    assert charges == before + sum(storm.ends.values())
    assert httpx.get(
        f"{service.url}/api/datasets/clinic/verify",
        headers=service.deployment.header("clinic-owner"),
        timeout=120,
    ).json()["holds"]
    return {name: result.rate for name, result in measured.items()}


def _charges(service: Served) -> int:
    """In the clinic's book, by all its pages."""
    charges, after = 0, 0
    while after is not None:
        url = f"{service.url}/api/datasets/clinic/history?after={after}&limit=200"
        page = httpx.get(url, headers=service.deployment.header("clinic-owner"), timeout=60).json()
        charges, after = (
            charges + sum(entry["kind"] == "charge" for entry in page["entries"]),
            page["next"],
        )
    return charges


def test_the_measure_sees_a_slow_route() -> None:
    slow, quick = Measured(requests=100, seconds=1.0), Measured(requests=100, seconds=0.2)
    assert not slow.rate >= LEAST * quick.rate
