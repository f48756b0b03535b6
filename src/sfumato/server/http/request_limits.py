"""Limits on requests: size, headers, speed and rate, checked before a request is parsed.

The same layer adds security headers to every reply, and replaces unexpected errors by one constant
text.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from .. import server_refusals as refusals
from ..config import Rate
from .problems import INTERNAL, RATE, Problem, ProblemError

Message = MutableMapping[str, Any]  # of ASGI; its type says which keys it has
Scope = Message
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 64 * 1024
MOST_HEADERS = 64
MOST_HEADER_BYTES = 16 * 1024
MOST_PATH = 2048
BODY_SECONDS = 10.0
KNOWN_ADDRESSES = 10_000
log = logging.getLogger("sfumato.server")

LARGE = Problem.of(refusals.BODY_TOO_LARGE(most=MOST_BODY))
MANY = Problem.of(refusals.HEADERS_TOO_LARGE(most=MOST_HEADERS, bytes=MOST_HEADER_BYTES))
LONG = Problem.of(refusals.ADDRESS_TOO_LONG(most=MOST_PATH))
TWICE = Problem.of(refusals.HEADER_TWICE(), {"Connection": "close"})
SLOW = Problem.of(refusals.BODY_TOO_SLOW(seconds=BODY_SECONDS))
ONCE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"transfer-encoding",
    }
)
SECURE = (b"strict-transport-security", b"max-age=31536000")
"""A browser that used TLS uses nothing else for a year."""
PAGE = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'"
)
ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class Buckets:
    """Token buckets: a burst and a long-run rate per name. The least recent names are forgotten
    first.
    """

    def __init__(self, rate: Rate, most: int = KNOWN_ADDRESSES) -> None:
        self._rate, self._most = rate, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()  # planning threads count their time here, too

    def allows(self, who: str, now: float | None = None) -> bool:
        """Whether a name may make one more request, which is counted."""
        with self._lock:
            allowed = self._now(who, now) >= 1
            self._take(who, allowed)
        return allowed

    def wait(self, who: str, now: float | None = None) -> float:
        """Return the seconds until a name has anything left; 0 if it has."""
        with self._lock:
            left = self._now(who, now)
        return 0.0 if left > 0 else max(1.0, -left / self._rate.per_second)

    def spend(self, who: str, amount: float, now: float | None = None) -> None:
        """Count an amount for a name; it may exceed what is left."""
        with self._lock:
            self._now(who, now)
            self._take(who, amount)

    def _now(self, who: str, now: float | None) -> float:
        """Return what a name has left now."""
        moment = time.monotonic() if now is None else now
        left, before = self._left.pop(who, (self._rate.burst, moment))
        left = min(self._rate.burst, left + (moment - before) * self._rate.per_second)
        self._left[who] = (left, moment)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return left

    def _take(self, who: str, amount: float) -> None:
        left, moment = self._left[who]
        self._left[who] = (left - amount, moment)


class Limits:
    """The outermost middleware of the service."""

    def __init__(self, app: App, rate: Rate) -> None:
        self._app = app
        self._addresses = Buckets(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = _with_headers(scope, message.get("headers", ()))
            await send(message)

        try:
            problem = self._find_problem(scope)
            if problem is None:
                await self._app(scope, _bounded(receive), guarded)
                return
        except ProblemError as stopped:
            problem = stopped.problem
        except Exception:
            # what was raised may quote the request, or worse
            log.error("a request ended in an unexpected way")
            problem = INTERNAL
        if not begun:
            await problem.response()(scope, receive, guarded)

    def _find_problem(self, scope: Scope) -> Problem | None:
        headers = scope["headers"]
        if (
            len(headers) > MOST_HEADERS
            or sum(len(name) + len(value) for name, value in headers) > MOST_HEADER_BYTES
        ):
            return MANY
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_PATH:
            return LONG
        counts = Counter(name for name, _ in headers)
        if any(counts[name] > 1 for name in ONCE) or (
            counts[b"content-length"] and counts[b"transfer-encoding"]
        ):
            return TWICE
        for name, value in headers:
            if name == b"content-length" and (not value.isdigit() or int(value) > MOST_BODY):
                return LARGE
        client = scope.get("client")
        return None if self._addresses.allows(client[0] if client else "") else RATE


def _bounded(receive: Receive) -> Receive:
    """Wrap `receive` to stop a body that is too large or too slow."""
    size, end = 0, None

    async def bounded() -> Message:
        nonlocal size, end
        loop = asyncio.get_running_loop()
        end = loop.time() + BODY_SECONDS if end is None else end
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise ProblemError(SLOW) from None
        size += len(message.get("body", b""))
        if size > MOST_BODY:
            raise ProblemError(LARGE)
        return message

    return bounded


def _with_headers(
    scope: Scope, headers: Iterable[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    path = scope["path"]
    reply_headers = [*headers, *ALWAYS, *([SECURE] if scope.get("scheme") == "https" else [])]
    names = {name.lower() for name, _ in headers}
    if b"content-security-policy" not in names:
        reply_headers.append(
            (
                b"content-security-policy",
                b"default-src 'none'; frame-ancestors 'none'"
                if path.startswith("/api")
                else PAGE.encode(),
            )
        )
    if b"cache-control" not in names:
        reply_headers.append(
            (b"cache-control", b"no-store" if path.startswith("/api") else b"no-cache")
        )
    return reply_headers
