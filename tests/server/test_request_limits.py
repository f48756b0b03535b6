"""What a request may not be, and what is around every reply."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from sfumato.server.config import Rate
from sfumato.server.http import request_limits
from sfumato.server.http.request_limits import MOST_BODY, Buckets, Limits, Message, Scope

WIDE = Rate(per_second=1e6, burst=1e6)


async def echo(scope: Scope, receive: Any, send: Any) -> None:
    """Reads the body, then says how long it is."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"text/plain")],
        }
    )
    await send({"type": "http.response.body", "body": str(size).encode()})


def sent(
    app: Any = echo,
    *,
    body: bytes = b"",
    headers: list[tuple[bytes, bytes]] | None = None,
    path: str = "/api/x",
    query: bytes = b"",
    **how: Any,
) -> Any:
    """Status, headers and body of one request."""
    messages: list[Message] = []
    limited = app if isinstance(app, Limits) else Limits(app, how.get("rate", WIDE))
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": headers or [],
        "client": ("a", 1),
    }
    scope["scheme"] = how.get("scheme", "http")
    pieces = [body[i : i + 5000] for i in range(0, max(1, len(body)), 5000)]

    async def receive() -> Message:
        if how.get("silent"):
            await asyncio.sleep(30)
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Message) -> None:
        messages.append(message)

    asyncio.run(limited(scope, receive, send))
    return (
        messages[0]["status"],
        dict(messages[0]["headers"]),
        b"".join(message.get("body", b"") for message in messages[1:]),
    )


def test_what_is_right_passes() -> None:
    status, headers, body = sent(body=b"x" * MOST_BODY)
    assert (status, body) == (200, str(MOST_BODY).encode())
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"cache-control"] == b"no-store"
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"body": b"x" * (MOST_BODY + 1)}, 413),
        ({"headers": [(b"content-length", str(MOST_BODY + 1).encode())]}, 413),
        ({"headers": [(b"content-length", b"-5")]}, 413),
        ({"headers": [(b"x", b"")] * 65}, 431),
        ({"headers": [(b"x", b"y" * 17_000)]}, 431),
        ({"path": "/" + "x" * 2048}, 414),
        ({"query": b"x" * 2048}, 414),
    ],
    ids=["body", "said length", "wrong length", "many headers", "long header", "path", "query"],
)
def test_what_is_too_large(how: dict[str, Any], status: int) -> None:
    actual_status, headers, _ = sent(**how)
    assert (actual_status, headers[b"content-type"]) == (status, b"application/problem+json")


@pytest.mark.parametrize(
    "headers",
    [
        [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")],
        [(b"content-length", b"5"), (b"transfer-encoding", b"chunked")],
        [(b"content-length", b"5"), (b"content-length", b"6")],
        [(b"content-type", b"application/json"), (b"content-type", b"text/plain")],
        [(b"idempotency-key", b"a"), (b"idempotency-key", b"b")],
    ],
    ids=["two tokens", "length and encoding", "two lengths", "two types", "two keys"],
)
def test_headers_that_contradict_each_other_are_refused(headers: list[tuple[bytes, bytes]]) -> None:
    """The service accepted Content-Length beside Transfer-Encoding, and used the first of two
    Authorization headers; a proxy in front may use the second.
    """
    status, reply_headers, body = sent(headers=headers)
    assert (status, json.loads(body)["code"], reply_headers[b"connection"]) == (
        400,
        "server.ambiguous",
        b"close",
    )
    assert sent(headers=headers[:1])[0] == 200


def test_who_came_by_tls_is_told_to_stay_there() -> None:
    """HSTS: only on replies by TLS, where a browser heeds it."""
    assert b"strict-transport-security" not in sent()[1]
    assert sent(scheme="https")[1][b"strict-transport-security"] == b"max-age=31536000"


def test_what_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "BODY_SECONDS", 0.01)
    assert sent(silent=True)[0] == 408


def test_what_breaks_is_told_and_logged_in_constant_words(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("Xenophon was here")

    with caplog.at_level(logging.DEBUG):
        status, _, body = sent(broken)
    assert status == 500
    assert b"Xenophon" not in body
    assert "Xenophon" not in caplog.text
    assert "unexpected" in caplog.text


def test_too_often() -> None:
    limited = Limits(echo, Rate(per_second=0.001, burst=3))
    assert [sent(limited)[0] for _ in range(5)] == [200, 200, 200, 429, 429]
    assert sent(limited)[1][b"retry-after"] == b"1"


def test_buckets_fill_again_and_forget() -> None:
    buckets = Buckets(Rate(per_second=2, burst=2), most=2)
    assert [buckets.allows("a", now) for now in (0, 0, 0, 0.4, 0.5, 0.6, 100, 100, 100)] == [
        True,
        True,
        False,
        False,
        True,
        False,
        True,
        True,
        False,
    ]
    buckets.allows("b", 100)
    buckets.allows("c", 100)
    assert buckets.allows(
        "a", 100
    )  # it was forgotten: an attacker with many addresses gains no more than their number


def test_what_was_taken_comes_back_with_time() -> None:
    """Processor time is counted after it was used, and may be more than was left."""
    buckets = Buckets(Rate(per_second=0.5, burst=10))
    assert buckets.wait("a", 0) == 0
    buckets.spend("a", 14, 0)
    assert [buckets.wait("a", now) for now in (0, 4, 7.9, 8.1)] == [8, 4, 1, 0]
    assert buckets.wait("b", 0) == 0


def test_pages_have_a_policy_of_their_own() -> None:
    _, headers, _ = sent(path="/static/app.js")
    assert headers[b"content-security-policy"].startswith(b"default-src 'self'")
    assert b"unsafe" not in headers[b"content-security-policy"]
