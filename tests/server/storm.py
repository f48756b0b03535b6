"""Clients that ask a service over and over, also while its processes are killed, and keep what they
were told.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from .service import Deployment, free_port, service

AGAIN = {"server.running", "server.busy", "server.rate", "server.internal"}
"""After these the same request is sent again, under the same key."""


@dataclass(frozen=True)
class Served:
    """A service of several processes."""

    deployment: Deployment
    process: subprocess.Popen[bytes]
    url: str


@contextmanager
def several(folder: Path, workers: int, **how: Any) -> Iterator[Served]:
    """A service with this many processes that listen, each with one that reads data."""
    port = free_port()
    deployment = service(folder, port=port, **how)
    text = deployment.path.read_text(encoding="utf-8").replace(
        "overruns_per_analyst = 100", "overruns_per_analyst = 1000000"
    )
    text = text.replace("ada = 100\n", "").replace("[server]", f"[server]\nworkers = {workers}")
    deployment.path.write_text(text, encoding="utf-8")
    with (folder / "server.log").open("wb") as sink:
        script = f"from sfumato.server.run_service import run\nrun({str(deployment.path)!r})"
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=sink, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/api/health")
        yield Served(deployment, process, url)
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str) -> None:
    """Until somebody answers there. With one client: each reads the certificates of the system, at
    the cost of who starts.
    """
    end = time.monotonic() + 240
    with httpx.Client(timeout=5) as http:
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                if http.get(url).status_code == 200:
                    return
            time.sleep(0.1)
    raise AssertionError("nobody answers there")


@dataclass
class ClientAnswer:
    """An answer that a client was given."""

    who: str
    key: str
    body: dict[str, Any]
    content: bytes
    receipt: int


@dataclass
class Storm:
    """Clients of one dataset. Each asks questions of its own, one after the other, under a new key
    each, and repeats what got no answer.
    """

    service: Served
    dataset: str
    column: str
    epsilon: str
    clients: dict[str, str]
    first: int = 0  # storms that begin elsewhere ask other questions, under other keys
    answers: list[ClientAnswer] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    sent: list[str] = field(default_factory=list)
    http: httpx.Client = field(
        default_factory=lambda: httpx.Client(
            timeout=60, limits=httpx.Limits(max_keepalive_connections=0)
        )
    )
    """One for all, which reads the certificates of the system once; a connection for each request,
    so that every process is asked.
    """
    stop: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> list[threading.Thread]:
        threads = [
            threading.Thread(target=self._ask, args=(place, who), daemon=True)
            for place, who in enumerate(self.clients.values())
        ]
        for thread in threads:
            thread.start()
        return threads

    def send(self, who: str, key: str, body: dict[str, Any]) -> httpx.Response | None:
        """One request; None where nobody answered."""
        headers = {**self.service.deployment.header(who), "Idempotency-Key": key}
        self.sent.append(key)
        try:
            return self.http.post(
                f"{self.service.url}/api/datasets/{self.dataset}/release",
                json=body,
                headers=headers,
            )
        except httpx.TransportError:
            return None

    def settled(self, who: str, key: str, body: dict[str, Any]) -> httpx.Response | None:
        """The last word on a request; None where the storm ended before."""
        while not self.stop.is_set():
            reply = self.send(who, key, body)
            if reply is not None and (
                reply.status_code == 200 or reply.json()["code"] not in AGAIN
            ):
                return reply
            time.sleep(0.25)
        return None

    @property
    def retries(self) -> int:
        """How often a request was sent again under its key."""
        return len(self.sent) - len(set(self.sent))

    def _ask(self, place: int, who: str) -> None:
        number = self.first
        while not self.stop.is_set():
            number += 1
            key, sql = (
                f"c{place}-{number}",
                (
                    f"SELECT COUNT(*) AS n FROM {self.dataset} WHERE {self.column} > {place} "
                    f"AND {self.column} < {1000 + number}"
                ),
            )
            body = {"sql": sql, "epsilon": self.epsilon}
            reply = self.settled(who, key, body)
            if reply is None:
                return
            if reply.status_code == 200:
                self.answers.append(
                    ClientAnswer(who, key, body, reply.content, reply.json()["receipt"]["number"])
                )
            self.ends["answered" if reply.status_code == 200 else reply.json()["code"]] += 1
            if reply.status_code == 402:
                return


def processes(root: int) -> list[int]:
    """The processes below one, whatever their depth."""
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int(
                (entry / "stat")
                .read_text(encoding="ascii", errors="replace")
                .rpartition(")")[2]
                .split()[1]
            )
        except (OSError, ValueError, IndexError):
            continue
    pids, more = [], [root]
    while more:
        more = [child for child, parent in parents.items() if parent in more]
        pids += more
    return [pid for pid in pids if pid != os.getpid()]


def serving(root: int) -> list[int]:
    """Those of them that serve, or read data: not the helpers that Python starts beside them."""
    pids = []
    for pid in processes(root):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"resource_tracker" not in command:
            pids.append(pid)
    return pids
