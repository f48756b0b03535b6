"""Two hundred values of each table are looked for in all that a service says, writes and keeps:
there is none.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from sfumato.server.http.asgi_app import STATIC

from .scanning import hits, read_written_files
from .service import CANARIES, SQL, Running, spoken
from .test_malformed import processes

pytestmark = pytest.mark.xdist_group("server")

QUESTIONS = {
    "visits": [
        SQL,
        "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
        (
            "SELECT note, spend, COUNT(*) AS n FROM visits GROUP BY note, spend ORDER BY n "
            "DESC LIMIT 5"
        ),
        "SELECT SUM(CAST(note AS INT) + 1 / (age - 20)) AS s, COUNT(*) AS n FROM visits",
        "SELECT SUM(CLAMP(CAST(note AS INT), 0, 9)) AS s FROM visits WHERE note > 'X'",
        (
            "SELECT MIN(spend) AS low, MAX(spend) AS high, MEDIAN(CLAMP(spend, 0, "
            "100000000000)) AS m FROM visits"
        ),
        "SELECT MAX(CLAMP(user_id, 0, 1000000000000)) AS m FROM visits",
        (
            "SELECT QUANTILES(CLAMP(spend, 0, 100000000000), [0.5, 0.9]) AS p, "
            "COUNT(DISTINCT note) AS d FROM visits"
        ),
        "SELECT HISTOGRAM(spend, [0, 50, 100, 100000000000]) AS h FROM visits",
        "SELECT note FROM visits",
        "SELECT * FROM visits",
        "SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id",
        "SELECT COUNT(*) AS n FROM visits WHERE note = (SELECT MAX(note) FROM visits)",
        "SELECT COUNT(*) AS n FROM read_parquet('visits.parquet')",
        "SELECT error(note) FROM visits",
        "SELECT COUNT(*) AS n FROM clinic",
    ],
    "clinic": [
        "SELECT ward, COUNT(*) AS n, AVG(stay) AS m FROM clinic GROUP BY ward",
        "SELECT ward FROM clinic",
    ],
}
FORMS = ("application/json", "text/csv", "application/vnd.apache.arrow.stream")


def collect_replies(service: Running) -> list[bytes]:
    """Replies of every kind: answers in every form, plans, refusals, failures, cards, history, the
    page.
    """
    replies: list[bytes] = []

    def ask(method: str, path: str, who: str, **how: Any) -> int:
        headers = service.deployment.header(who) | how.pop("headers", {})
        reply = service.http.request(method, f"{service.url}{path}", headers=headers, **how)
        replies.append(repr(reply.headers.raw).encode() + reply.content)
        return reply.status_code

    for dataset, who in (("visits", "bob"), ("clinic", "clinic-ada")):
        base = f"/api/datasets/{dataset}"
        for i, sql in enumerate(QUESTIONS[dataset]):
            for body in (
                {"sql": sql, "epsilon": "100"},
                {"sql": sql, "within": 25},
                {"sql": sql, "epsilon": "100", "delta": "1"},
            ):
                ask("POST", f"{base}/plan", who, json=body)
            form = FORMS[i % 3]
            ask(
                "POST",
                f"{base}/release",
                who,
                json={"sql": sql, "epsilon": "100"},
                headers={"Idempotency-Key": f"canary-{i}", "Accept": form},
            )
        for role in ("bob", "ada", "owner", "auditor", "clinic-ada", "boss"):
            for path in (
                "",
                "/history?limit=200",
                "/budget",
                "/verify",
                "/overruns",
                *(f"/cards/{number}" for number in range(1, 40)),
            ):
                ask("GET", base + path, role)
            ask("GET", f"{base}/cards/5", role, headers={"Accept": "text/html"})
    for path in (
        "/",
        "/openapi.json",
        "/api/me",
        "/api/datasets",
        "/api/nothing",
        *(f"/static/{file.name}" for file in STATIC.iterdir()),
    ):
        ask("GET", path, "boss")
    return replies


def crash(service: Running) -> bytes:
    """A worker that is ended while it answers."""
    worker = max(processes(service) - {service.process.pid})
    threading.Timer(0.01, os.kill, (worker, signal.SIGKILL)).start()
    headers = service.deployment.header("bob") | {"Idempotency-Key": "canary-crash"}
    sql = "SELECT note, COUNT(*) AS n, AVG(CLAMP(spend, 0, 1000000)) AS m FROM visits GROUP BY note"
    reply = service.http.post(
        f"{service.url}/api/datasets/visits/release",
        headers=headers,
        json={"sql": sql, "epsilon": "1"},
    )
    for _ in range(600):
        if len(processes(service)) > 1:
            break
        time.sleep(0.1)
    return reply.content


def test_no_canary_leaves(service: Running) -> None:
    replies = collect_replies(service)
    assert len(replies) > 150
    assert sum(b'"receipt"' in reply for reply in replies) >= 4
    assert hits(replies) == []
    assert hits([crash(service)]) == []
    assert hits(read_written_files(service).values()) == []
    log = service.log.read_bytes()
    assert b"/api/datasets/visits/release" in log, "the log says what it can"
    assert service.process.poll() is None


def test_canaries_are_in_the_data_and_would_be_seen(service: Running) -> None:
    """The twin: the tables themselves, as text and as they lie in memory."""
    import pyarrow.parquet as pq

    for table in ("visits", "clinic"):
        assert len(set(spoken(table))) == CANARIES
        held = pq.read_table(service.deployment.path.parent / f"{table}.parquet")
        texts = hits([str(held.to_pydict()).encode()])
        assert len([canary for canary in texts if canary in spoken(table)]) == CANARIES
        raw = hits(
            [
                buffer.to_pybytes()
                for column in held.columns
                for chunk in column.chunks
                for buffer in chunk.buffers()
                if buffer is not None
            ]
        )
        assert len(raw) >= CANARIES


def test_all_that_is_kept_is_looked_at(service: Running) -> None:
    """Here while it runs, and once more when all tests of the service are done."""
    assert {"curator.ledger", "tokens.db", "server.log", "sfumato.toml"} <= set(
        read_written_files(service)
    )
