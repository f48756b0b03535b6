"""Problems: replies without an answer, as `application/problem+json` (RFC 9457) with the codes of
our refusals.

*Constant*  A dataset of others and a missing one give the same bytes, and so do all failures after
            data was read.
*Public*    A problem is a function of the request, the declaration and the ledger; nothing in it
            depends on data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from ...errors import Refused
from ...ledger import BudgetExceeded

MEDIA = "application/problem+json"
_TABLE = (
    ("budget.exceeded", 402),
    ("ledger.key", 409),
    ("server.ambiguous", 400),
    ("server.token", 401),
    ("server.unknown", 404),
    ("server.method", 405),
    ("server.accept", 406),
    ("server.key", 409),
    ("server.running", 409),
    ("server.lost", 410),
    ("server.void", 410),
    ("server.slow", 408),
    ("server.large", 413),
    ("server.long", 414),
    ("server.media", 415),
    ("server.body", 422),
    ("server.rate", 429),
    ("server.planning", 429),
    ("server.waiting", 429),
    ("server.headers", 431),
    ("server.role", 403),
    ("server.overruns", 403),
    ("server.stored", 403),
    ("server.internal", 500),
    ("server.deadline", 503),
    ("server.busy", 503),
)
STATUSES = dict(_TABLE)
"""The HTTP status of a code; 400 for every other refusal, which concerns the question."""

STORAGE = frozenset(
    {
        "ledger.busy",
        "ledger.full",
        "ledger.read-only",
        "ledger.path",
        "ledger.format",
        "ledger.corrupt",
        "ledger.io",
        "ledger.storage",
        "ledger.server",
        "ledger.moved",
        "ledger.names",
        "ledger.log",
        "ledger.locks",
        "ledger.fork",
        "ledger.head",
        "ledger.sqlite",
        "server.storage",
        "server.records",
    }
)
"""Storage faults of the service itself. Analysts get `server.busy` for all of them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that is sent instead of an answer."""

    code: str
    place: str
    reason: str
    rewrite: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return STATUSES.get(self.code, 400)

    def record(self) -> dict[str, Any]:
        about = {
            "code": self.code,
            "place": self.place,
            "reason": self.reason,
            "rewrite": self.rewrite,
        }
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            **about,
        }

    def body(self) -> bytes:
        return json.dumps(self.record(), ensure_ascii=False).encode("utf-8", "replace")

    def response(self) -> Response:
        return Response(self.body(), self.status, self.headers, MEDIA)


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def problem_of(refusal: Refused) -> Problem:
    """Turn a refusal into a problem."""
    if refusal.code in STORAGE:
        return BUSY
    code = "budget.exceeded" if isinstance(refusal, BudgetExceeded) else refusal.code
    return Problem(code, refusal.place, refusal.reason, refusal.rewrite)


UNKNOWN = Problem(
    "server.unknown",
    "the address",
    "nothing exists at this address for this token",
    "GET /api/datasets",
)
UNNAMED = Problem(
    "server.token",
    "Authorization",
    "a valid token is needed",
    "Authorization: Bearer TOKEN; `sfumato token` creates one",
    {"WWW-Authenticate": "Bearer"},
)
ROLE = Problem("server.role", "the token", "its role may not do this", "a token of another role")
DEADLINE = Problem(
    "server.deadline",
    "the question",
    "the answer was not ready by its deadline; what was charged for it stays charged",
    "a simpler question, or the owner",
)
BUSY = Problem(
    "server.busy",
    "the service",
    "it cannot take this request now; nothing was charged",
    "try again",
    {"Retry-After": "1"},
)
INTERNAL = Problem(
    "server.internal",
    "the service",
    "something broke; what was charged stays charged",
    "try again with the same key",
)
LOST = Problem(
    "server.lost",
    "Idempotency-Key",
    "the answer was not stored under it; if it was charged, that stays charged",
    "a new key: a new charge, unless the ledger has the answer",
)
RUNNING = Problem(
    "server.running",
    "Idempotency-Key",
    "this request is being answered",
    "the same request with the same key, later",
    {"Retry-After": "1"},
)
OTHER_BODY = Problem(
    "server.key", "Idempotency-Key", "this key was used for another question", "a new key"
)
OVERRUNS = Problem(
    "server.overruns",
    "the token's name",
    "too many of its questions were not answered by their deadlines",
    "the owner may allow more",
)
PLANNING = Problem(
    "server.planning",
    "the token's name",
    "its questions have used up their processor time for planning",
    "simpler questions, or wait",
)
WAITING = Problem(
    "server.waiting",
    "the token's name",
    "too many of its requests are waiting already; nothing was charged",
    "fewer requests at once",
    {"Retry-After": "1"},
)
RATE = Problem(
    "server.rate",
    "the service",
    "too many requests",
    "fewer requests a second",
    {"Retry-After": "1"},
)
