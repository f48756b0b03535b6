"""Listen for PostgreSQL clients beside HTTP, in the same process and event loop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..config import Config
from ..http.problems import Problem
from ..http.request_limits import Buckets
from ..http.slow_clients import CONNECTIONS
from ..service import CuratorService
from . import report_messages
from . import wire_messages as wire
from . import wire_refusals as refusals
from .wire_listener_state import WireState
from .wire_session import WireSession

MOST_CONNECTIONS = 1000  # of a process


class WireListener:
    """The listening socket of one process, and its sessions."""

    def __init__(self, curator: CuratorService, statements: Buckets) -> None:
        config = curator.config
        self._config = config
        self._state = WireState(curator, statements, _tls_context(config))
        self._addresses = Buckets(config.address_rate)
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[WireSession] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, if its address may have one more."""
        address = CONNECTIONS.address(writer.get_extra_info("peername"))
        client = writer.get_extra_info("socket")
        if client is not None and client.family in (socket.AF_INET, socket.AF_INET6):
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if (
            len(self._open) >= MOST_CONNECTIONS
            or not CONNECTIONS.may(address)
            or not self._addresses.allows(address)
        ):
            problem = Problem.of(refusals.TOO_MANY_CONNECTIONS())
            writer.write(report_messages.error(problem, fatal=True))
            writer.close()
            return
        CONNECTIONS.add(address)
        session = WireSession(self._state, reader, writer)
        self._open.add(session)
        try:
            await session.run()
        finally:
            self._open.discard(session)
            CONNECTIONS.drop(address)

    async def stop(self) -> None:
        """End all sessions, when the releases that are under way have ended."""
        await self._state.questions.finish()
        await asyncio.gather(*(session.stop() for session in list(self._open)))
        self._state.close()


@asynccontextmanager
async def listening(curator: CuratorService, statements: Buckets) -> AsyncIterator[None]:
    """Listen while open, if the configuration has a port for PostgreSQL clients."""
    config = curator.config
    if config.postgres is None:
        yield
        return
    listener = WireListener(curator, statements)
    server = await asyncio.start_server(
        listener.serve,
        config.host,
        config.postgres,
        limit=2 * wire.MOST_BODY,
        # the listening processes of one service share the port
        reuse_port=True if config.workers > 1 else None,
    )
    try:
        yield
    finally:
        server.close()
        await listener.stop()


def _tls_context(config: Config) -> ssl.SSLContext | None:
    if config.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(config.tls_cert, config.tls_key)
    return context
