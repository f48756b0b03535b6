"""A client that does not come to an end is left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn

from sfumato.server import protocol
from sfumato.server.protocol import Protocol

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def spoken(*pieces: bytes) -> bytes:
    """What a server says to pieces that come one after the other, until it closes the connection."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=Protocol, ws="none", lifespan="off", log_level="critical", timeout_keep_alive=60))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await asyncio.sleep(0.02)
    async with asyncio.timeout(20):
        found = await reader.read()
    writer.close()
    server.should_exit = True
    await task
    return found


@pytest.mark.parametrize(
    ("pieces", "answers"),
    [((), 0), ((b"GET / HT",), 0), ((GET, b"X: 1\r\n"), 0), ((GET + b"\r\n", GET), 1), ((GET + b"Content-Length: 100\r\n\r\n", b"x"), 1)],
    ids=["silence", "half a line", "half of the headers", "half of the second request", "half of a body"],
)
def test_what_does_not_end_is_ended(pieces: tuple[bytes, ...], answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SECONDS", 0.3)
    assert asyncio.run(spoken(*pieces)).count(b"200 OK") == answers


def test_a_request_in_pieces_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SECONDS", 5)
    assert b"ok" in asyncio.run(spoken(b"GET / HTTP/1.1\r\n", b"Host: x\r\n", b"Connection: close\r\n", b"\r\n"))
