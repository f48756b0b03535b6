"""A client that does not come to an end is left."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sfumato.server.http import slow_clients
from sfumato.server.http.slow_clients import TimedProtocol

from .service import certificate

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


def serving(application: Any, tls: dict[str, str]) -> uvicorn.Server:
    about: dict[str, Any] = {
        "port": 0,
        "http": TimedProtocol,
        "ws": "none",
        "lifespan": "off",
        "log_level": "critical",
        "timeout_keep_alive": 60,
    }
    return uvicorn.Server(uvicorn.Config(application, **about, **tls))


@pytest.fixture(params=["plain", "TLS"])
def tls(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Uvicorn's options for a certificate; none for plain HTTP."""
    if request.param == "plain":
        return {}
    certificate(tmp_path, "own")
    return {"ssl_certfile": str(tmp_path / "own.crt"), "ssl_keyfile": str(tmp_path / "own.key")}


def trusting(tls: dict[str, str]) -> ssl.SSLContext | None:
    return ssl.create_default_context(cafile=tls["ssl_certfile"]) if tls else None


async def spoken(
    tls: dict[str, str], *clients: Sequence[bytes], application: Any = app
) -> list[bytes]:
    """What a server says to clients, to each in pieces that come one after the other, until it
    closes the connection.
    """
    server = serving(application, tls)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]

    async def speak(pieces: Sequence[bytes]) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting(tls))
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.02)
        async with asyncio.timeout(20):
            reply = await reader.read()
        writer.close()
        return reply

    replies = await asyncio.gather(*map(speak, clients))
    server.should_exit = True
    await task
    return replies


HALVES: dict[str, tuple[Sequence[bytes], int]] = {
    "silence": ((), 0),
    "half a line": ((b"GET / HT",), 0),
    "half of the headers": ((GET, b"X: 1\r\n"), 0),
    "half of the second request": ((GET + b"\r\n", GET), 1),
    "half of a body": ((GET + b"Content-Length: 100\r\n\r\n", b"x"), 1),
}
"""What is sent, and how many answers it gets."""


def test_what_does_not_end_is_ended(tls: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clients, "SECONDS", 0.5)
    replies = asyncio.run(spoken(tls, *(pieces for pieces, _ in HALVES.values())))
    assert dict(zip(HALVES, (reply.count(b"200 OK") for reply in replies), strict=True)) == {
        name: answers for name, (_, answers) in HALVES.items()
    }


def test_a_request_in_pieces_is_answered(
    tls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clients, "SECONDS", 5)
    (reply,) = asyncio.run(
        spoken(tls, (b"GET / HTTP/1.1\r\n", b"Host: x\r\n", b"Connection: close\r\n", b"\r\n"))
    )
    assert b"ok" in reply


def body(text: bytes, *headers: bytes) -> bytes:
    return (
        b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        + b"".join(header + b"\r\n" for header in headers)
        + b"\r\n"
        + text
    )


LENIENT = {
    "lines that end without CR": b"GET / HTTP/1.1\nHost: x\n\n",
    "one line that ends without CR": b"GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
    "an empty line without CR": b"GET / HTTP/1.1\r\nHost: x\r\n\n",
    "a header that goes on in the next line": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
    "a CR inside a line": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
    "the second request of a connection": GET + b"\r\n" + b"GET / HTTP/1.1\nHost: x\n\n",
    "a trailer without CR": body(b"1\r\nx\r\n0\r\nX: y\n\r\n", b"Transfer-Encoding: chunked"),
}


@pytest.mark.parametrize("shape", LENIENT)
def test_a_head_that_others_may_read_otherwise_is_refused(shape: str) -> None:
    """Bare line feeds and folded headers were taken: a proxy in front may see one request where the
    service sees two.
    """
    (reply,) = asyncio.run(spoken({}, (LENIENT[shape],), application=reading))
    assert b"400 Bad Request" in reply
    assert reply.count(b"200 OK") == (1 if "second" in shape else 0)


def test_a_body_may_hold_any_line_breaks() -> None:
    text = b'{"sql":\n "a\r b\n\tc"}\n\n'
    pieces = [
        body(text, b"Content-Length: %d" % len(text)),
        body(b"%x\r\n%b\r\n0\r\n\r\n" % (len(text), text), b"Transfer-Encoding: chunked"),
    ]
    replies = asyncio.run(
        spoken(
            {},
            *((piece,) for piece in pieces),
            *(tuple(piece[i : i + 7] for i in range(0, len(piece), 7)) for piece in pieces),
            application=reading,
        )
    )
    assert [reply.partition(b"\r\n\r\n")[2] for reply in replies] == [str(len(text)).encode()] * 4


async def reading(scope: Any, receive: Any, send: Any) -> None:
    """Says how long the body is."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    length = str(size).encode()
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-length", str(len(length)).encode())],
        }
    )
    await send({"type": "http.response.body", "body": length})


LONG = 2**23


async def long(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-length", str(LONG).encode())],
        }
    )
    await send({"type": "http.response.body", "body": bytes(LONG)})


def test_a_long_reply_is_whole_before_the_connection_is_closed(tls: dict[str, str]) -> None:
    (reply,) = asyncio.run(spoken(tls, (GET + b"Connection: close\r\n\r\n",), application=long))
    assert len(reply.partition(b"\r\n\r\n")[2]) == LONG


async def fetched(tls: dict[str, str], *, pause: float, piece: int) -> tuple[int, int]:
    """How much of a long reply a client gets that reads a piece after each pause, and how many
    connections the server has when it is done.
    """
    server = serving(long, tls)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.005)
    received, client_socket = 0, socket.socket()
    client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, max(4096, piece))
    await asyncio.to_thread(client_socket.connect, server.servers[0].sockets[0].getsockname())
    host = "127.0.0.1" if tls else None
    reader, writer = await asyncio.open_connection(
        sock=client_socket, ssl=trusting(tls), server_hostname=host, limit=max(1, piece // 2)
    )
    writer.write(GET + b"\r\n")
    async with asyncio.timeout(60):
        while not server.server_state.connections:
            await asyncio.sleep(0.005)
        while server.server_state.connections and received < LONG:
            await asyncio.sleep(pause)
            if piece:
                with suppress(ConnectionError):
                    received += len(await reader.read(piece))
    left = len(server.server_state.connections)
    writer.transport.abort()
    server.should_exit = True
    await task
    return received, left


def test_who_does_not_read_is_left(tls: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clients, "UNREAD", 0.1)
    assert asyncio.run(fetched(tls, pause=0.05, piece=0)) == (0, 0)


def test_who_reads_a_byte_now_and_then_is_left(
    tls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clients, "UNREAD", 0.1)
    received, left = asyncio.run(fetched(tls, pause=0.02, piece=1))
    assert received < LONG
    assert left == 0


def test_who_reads_slowly_gets_it_all(tls: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than any one wait; every wait sees some of it read."""
    monkeypatch.setattr(slow_clients, "UNREAD", 0.5 if tls else 1.0)  # of which TLS has two
    received, _ = asyncio.run(fetched(tls, pause=0.01, piece=2**16))
    assert received >= LONG
