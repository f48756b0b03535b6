"""The event loop of the service: handshakes, connections of one address, and what is logged of
those that fail.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sfumato.server.http import event_loop
from sfumato.server.http.event_loop import Loop
from sfumato.server.http.slow_clients import CONNECTIONS, TimedProtocol

from .service import certificate
from .test_slow_clients import GET, app, trusting

MOST = 5


@pytest.fixture(params=["plain", "TLS"])
def tls(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    if request.param == "plain":
        return {}
    return create_tls_options(tmp_path)


def create_tls_options(folder: Path) -> dict[str, str]:
    certificate(folder, "own")
    return {"ssl_certfile": str(folder / "own.crt"), "ssl_keyfile": str(folder / "own.key")}


def serve(tls: dict[str, str], ask: Callable[[int], Coroutine[Any, Any, Any]]) -> Any:
    """What somebody finds who asks a service that runs in this loop, at a port."""

    async def run() -> Any:
        about: dict[str, Any] = {
            "port": 0,
            "http": TimedProtocol,
            "ws": "none",
            "lifespan": "off",
            "log_config": None,
            "timeout_keep_alive": 60,
        }
        server = uvicorn.Server(uvicorn.Config(app, **about, **tls))
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.005)
        outcome = await ask(server.servers[0].sockets[0].getsockname()[1])
        server.should_exit = True
        await task
        return outcome

    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(run())


async def connected(port: int, tls: dict[str, str]) -> Any:
    return await asyncio.open_connection("127.0.0.1", port, ssl=trusting(tls))


async def answered(port: int, tls: dict[str, str]) -> bool:
    """Whether a new connection is answered, or cut."""
    try:
        async with asyncio.timeout(20):
            reader, writer = await connected(port, tls)
            writer.write(GET + b"Connection: close\r\n\r\n")
            reply = await reader.read()
            writer.close()
    except (ConnectionError, ssl.SSLError):
        return False
    return b"200 OK" in reply


def test_connections_of_one_address_are_limited(
    tls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,100 idle connections of one address were 503 for everybody. One address now has its number,
    and what it lets go is free again.
    """
    monkeypatch.setattr(CONNECTIONS, "most", MOST)

    async def ask(port: int) -> Any:
        idle = [await connected(port, tls) for _ in range(MOST)]
        full = [await answered(port, tls) for _ in range(3)]
        for _, writer in idle[:2]:
            writer.transport.abort()
        end = asyncio.get_running_loop().time() + 20
        while not (again := await answered(port, tls)) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.01)
        for _, writer in idle:
            writer.transport.abort()
        return full, again

    assert serve(tls, ask) == ([False] * 3, True)
    assert not CONNECTIONS._open


def test_a_handshake_counts_and_does_not_take_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An idle handshake had 60 seconds, and was counted nowhere."""
    monkeypatch.setattr(CONNECTIONS, "most", MOST)
    monkeypatch.setattr(event_loop, "HANDSHAKE", 1.0)
    tls = create_tls_options(tmp_path)

    async def ask(port: int) -> Any:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST)]
        full = await answered(port, tls)
        async with asyncio.timeout(20):
            ends = [await reader.read() for reader, _ in idle]
        for _, writer in idle:
            writer.close()
        return full, ends, await answered(port, tls)

    assert serve(tls, ask) == (False, [b""] * MOST, True)
    assert "Traceback" not in caplog.text
    assert not CONNECTIONS._open


def test_a_failed_handshake_is_logged_in_constant_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It wrote a traceback into the log."""
    tls = create_tls_options(tmp_path)
    caplog.set_level(logging.INFO)

    async def ask(port: int) -> None:
        for payload in (b"GET /Xenophon HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05Xenop", b""):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(payload)
            writer.write_eof()
            await reader.read()
            writer.close()
        strange = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # which does not know the certificate
        with pytest.raises(ssl.SSLError):
            await asyncio.open_connection("127.0.0.1", port, ssl=strange, server_hostname="x")
        plain = socket.create_connection(("127.0.0.1", port))
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        plain.close()  # with a reset
        assert await answered(port, tls)

    serve(tls, ask)
    assert "Traceback" not in caplog.text
    assert "Xenop" not in caplog.text
    assert {
        record.getMessage()
        for record in caplog.records
        if record.name in ("sfumato.server", "asyncio")
    } <= {"a connection ended in an unexpected way"}


def test_what_breaks_in_the_loop_is_logged_in_constant_words(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks() -> None:
        raise RuntimeError("Xenophon was here")

    async def run() -> None:
        asyncio.get_running_loop().call_soon(breaks)
        await asyncio.sleep(0.01)

    for debug, expected in (("", False), ("1", True)):
        caplog.clear()
        monkeypatch.setenv("SFUMATO_DEBUG", debug)
        with asyncio.Runner(loop_factory=Loop) as runner:
            runner.run(run())
        assert ("Xenophon" in caplog.text) == expected
        assert caplog.records
