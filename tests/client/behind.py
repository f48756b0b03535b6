"""A protected table behind a wall of paper: the replies that a server would give, without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from sfumato.client.connection import Connection
from sfumato.client.transport import Wire
from sfumato.errors import Refused
from sfumato.guarantees.stored_guarantee import record, restore
from sfumato.server.http.encode_replies import number, reply
from sfumato.server.http.problems import problem_of
from sfumato.session import Database, Table
from sfumato.session.pending_plan import PendingPlan
from sfumato.sql.sql_plan import SqlPlan

from ..sql.people import protected

TOKEN = "sft_" + "a" * 60


@dataclass
class Paper:
    """Replies to requests, made of a table in this process. `kept` are the replies by key; `log` is
    what was asked.
    """

    table: Table | Database
    role: str = "analyst"
    replies: dict[str, bytes] = field(default_factory=dict)
    log: list[tuple[str, str, str | None, Any]] = field(default_factory=list)
    released: list[Any] = field(default_factory=list)  # the questions that were answered

    def __call__(self, request: httpx.Request) -> httpx.Response:
        key, path = request.headers.get("Idempotency-Key"), request.url.path
        body = json.loads(request.content) if request.content else {}
        self.log.append((request.method, path, key, body))
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        try:
            return httpx.Response(
                200, content=self._reply(path, dict(request.url.params), key, body)
            )
        except Refused as refusal:
            problem = problem_of(refusal)
            return httpx.Response(problem.status, content=problem.body())

    def _reply(
        self, path: str, query: dict[str, str], key: str | None, body: dict[str, Any]
    ) -> bytes:
        ledger = self.table.ledger
        if path == "/api/me":
            return _json(
                {
                    "name": "ada",
                    "role": self.role,
                    "expires": "2027-01-01T00:00:00+00:00",
                    "datasets": ["visits"],
                }
            )
        what = path.removeprefix("/api/datasets/visits").strip("/")
        if what == "":
            if isinstance(self.table, Database):
                return _json({"tables": [], "database": self.table.declaration.to_toml()})
            return _json(
                {
                    "tables": [{"name": "visits", "declaration": self.table.original.to_toml()}],
                    "database": None,
                }
            )
        if what == "budget":
            balance = {
                name: record(getattr(ledger, name)) for name in ("budget", "spent", "remaining")
            }
            return _json(
                {
                    **balance,
                    "share": balance,
                    "shares": [{"name": "ada", **balance}] if self.role == "owner" else None,
                }
            )
        if what == "history":
            after, most = int(query["after"]), 2
            entries = [entry for entry in ledger.history() if entry.number > after][:most]
            listed = [
                {
                    "number": e.number,
                    "when": e.when,
                    "who": e.share or "",
                    "kind": e.kind,
                    "memo": e.memo,
                    "receipt": e.digest,
                }
                for e in entries
            ]
            costs = [None if e.cost is None else record(e.cost) for e in entries]
            more = entries[-1].number if len(entries) == most else None
            return _json(
                {
                    "entries": [{**e, "cost": cost} for e, cost in zip(listed, costs, strict=True)],
                    "next": more,
                }
            )
        if what == "verify":
            verification = ledger.verify()
            return _json(
                {
                    "holds": verification.ok,
                    "head": str(verification.head),
                    "says": str(verification).splitlines(),
                }
            )
        how: dict[str, Any] = {
            name: restore(value) if name == "promise" else value
            for name, value in body.items()
            if name != "sql"
        }
        if what == "plan":
            return _json({**self._planned(body["sql"], how), "paid": body in self.released})
        assert what == "release"
        assert key
        self.released.append(body)
        if key not in self.replies:
            self.replies[key] = reply(self.table.sql(body["sql"], **how))
        return self.replies[key]

    def _planned(self, sql: str, how: dict[str, Any]) -> dict[str, Any]:
        plan = self.table.plan(sql, **how)
        shape = plan.base if isinstance(plan, PendingPlan) else plan
        assert isinstance(shape, SqlPlan)
        errors = plan.error(how.get("confidence", 0.95), group_size=how.get("group_size"))
        return {
            "cost": record(plan.cost),
            "promise": record(plan.promise),
            "error": {name: number(width) for name, width in errors.items()},
            "explained": plan.explain().splitlines(),
            "columns": [{"name": name, "kind": kind} for name, kind in shape.kinds.items()],
            "keys": [shown for _, shown in shape.finish.keys],
            "deadline": 1.0,
            "affordable": True,
            "rows": 3,
        }


Before = Callable[[Paper, httpx.Request], httpx.Response | None]


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()


@contextmanager
def behind(
    before: Before | None = None, role: str = "analyst", **declared: Any
) -> Iterator[tuple[Connection, Paper]]:
    """A connection to a table that is declared so; who stands `before` it may reply instead."""
    with protected(**declared) as table:
        paper = Paper(table, role)

        def replied(request: httpx.Request) -> httpx.Response:
            return (before(paper, request) if before is not None else None) or paper(request)

        wire = Wire("http://127.0.0.1:9", TOKEN, transport=httpx.MockTransport(replied))
        with Connection(wire) as connection:
            yield connection, paper
