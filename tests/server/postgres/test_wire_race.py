"""A dashboard that refreshes, and processes that are killed: one question, one charge."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from ..processes import alive, descendants
from ..service import Running, free_port
from ..storm import several
from .clients import connect
from .test_wire_session import charges

CHARTS = [
    f"SELECT city, {aggregate} AS chart{number} FROM visits WHERE age > {30 + number} GROUP BY city"
    for number, aggregate in enumerate(
        ["COUNT(*)", "AVG(spend)", "SUM(spend)", "COUNT(DISTINCT user_id)"] * 3
    )
]


@pytest.mark.parametrize("refreshes", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_a_dashboard_is_charged_once(wire: Running, refreshes: int) -> None:
    """Twelve charts, refreshed at once by several connections."""
    charts = [f"{sql} LIMIT {900 + refreshes}" for sql in CHARTS]
    rows: dict[int, set[str]] = {number: set() for number in range(len(charts))}
    failures: list[Exception] = []
    before = charges(wire)

    def refresh(worker: int) -> None:
        try:
            with connect(wire, "ada", options="-c sfumato.epsilon=0.5") as connection:
                for _ in range(max(1, refreshes // 4)):
                    for number in range(len(charts)):
                        chart = (number + 3 * worker) % len(charts)
                        reply = connection.execute(charts[chart]).fetchall()
                        rows[chart].add(repr(reply))
        except psycopg.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=refresh, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(len(replies) == 1 for replies in rows.values())
    # the ledger knows charts that an earlier run asked with another LIMIT
    assert charges(wire) - before in (0, len(charts))


@pytest.mark.parametrize("kills", [1, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_and_asked_again(tmp_path: Path, kills: int) -> None:
    """Two listening processes share the port. One of them, or a worker, is killed while a question
    is under way, again and again; the same statement is sent until it has an end.
    """
    port, chance = free_port(), random.Random(kills)
    with several(tmp_path, 2, postgres=port, deadline="[1]") as served, httpx.Client() as http:
        service = Running(served.deployment, served.process, 0, tmp_path, http, port)
        service_url = served.url
        answers, lost = 0, 0
        for number in range(kills):
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {number % 60} AND spend < {number}"
            killer = threading.Timer(chance.random() * 1.2, _kill_one, (served.process.pid, chance))
            killer.start()
            ended = _ask_until_it_ends(service, sql)
            killer.join()
            answers, lost = answers + (ended == "answer"), lost + (ended == "lost")
        assert answers + lost == kills
        url = f"{service_url}/api/datasets/visits/history?limit=200"
        entries = http.get(url, headers=served.deployment.header("owner"), timeout=60).json()
        paid = sum(entry["kind"] == "charge" for entry in entries["entries"])
        assert answers <= paid <= kills


def _kill_one(pid: int, chance: random.Random) -> None:
    pids = [child for child in descendants(pid) if alive(child)]
    if pids:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(pids), signal.SIGKILL)


def _ask_until_it_ends(service: Running, sql: str) -> str:
    """Send a statement until it has an answer, or is lost."""
    end, rows = time.monotonic() + 120, set[str]()
    while time.monotonic() < end:
        try:
            with connect(service, "ada", options="-c sfumato.epsilon=0.5") as connection:
                rows.update(repr(connection.execute(sql).fetchall()) for _ in range(2))
                assert len(rows) == 1
                return "answer"
        except psycopg.Error as error:
            if "postgres.charge" in str(error):
                return "lost"
            time.sleep(0.2)  # the process was killed; another one takes its place
    raise AssertionError("no end")
