"""Problems: replies without an answer, as `application/problem+json` (RFC 9457) with the codes of
our refusals.

*Constant*  A dataset of others and a missing one give the same bytes, and so do all failures after
            data was read.
*Public*    A problem is a function of the request, the declaration and the ledger; nothing in it
            depends on data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from starlette.responses import Response

from ...errors import Refused
from ...ledger import BudgetExceeded
from .. import server_refusals as refusals

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
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, refusal: Refused, headers: Mapping[str, str] | None = None) -> Problem:
        """Turn a refusal into a problem, word for word."""
        return cls(
            refusal.code, refusal.place, refusal.reason, refusal.rewrite, dict(headers or {})
        )

    @property
    def status(self) -> int:
        return STATUSES.get(self.code, 400)

    def record(self) -> dict[str, object]:
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
    """Turn a refusal into a problem. It says no more than `BUSY` about the service's storage."""
    if refusal.code in STORAGE:
        return BUSY
    problem = Problem.of(refusal)
    is_exceeded = isinstance(refusal, BudgetExceeded)
    return replace(problem, code="budget.exceeded") if is_exceeded else problem


_LATER = {"Retry-After": "1"}
UNKNOWN = Problem.of(refusals.ADDRESS_UNKNOWN())
UNNAMED = Problem.of(refusals.TOKEN_INVALID(), {"WWW-Authenticate": "Bearer"})
ROLE = Problem.of(refusals.ROLE_WITHOUT_RIGHT())
MEDIA_TYPE = Problem.of(refusals.MEDIA_NOT_JSON())
ACCEPT = Problem.of(refusals.ACCEPT_WRONG())
NO_KEY = Problem.of(refusals.KEY_WRONG())
OTHER_BODY = Problem.of(refusals.KEY_OF_OTHER_QUESTION())
RUNNING = Problem.of(refusals.REQUEST_RUNNING(), _LATER)
LOST = Problem.of(refusals.ANSWER_LOST())
DEADLINE = Problem.of(refusals.DEADLINE_PASSED())
BUSY = Problem.of(refusals.SERVICE_BUSY(), _LATER)
INTERNAL = Problem.of(refusals.SERVICE_BROKE())
OVERRUNS = Problem.of(refusals.TOO_MANY_OVERRUNS())
PLANNING = Problem.of(refusals.PLANNING_TIME_USED())
WAITING = Problem.of(refusals.TOO_MANY_WAITING(), _LATER)
RATE = Problem.of(refusals.TOO_MANY_REQUESTS(), _LATER)
"""The problems without fields; `server_refusals` has their texts."""
