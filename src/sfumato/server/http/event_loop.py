"""The event loop of a serving process: short TLS handshakes, connections counted on arrival, and
constant log texts.

*Handshake*  A client has five seconds; asyncio alone gives sixty.
*Counted*    A connection counts for its address from the moment it is accepted, also during its
             handshake (`slow_clients.CONNECTIONS`). One too many is closed at once.
*Log*        asyncio logs a traceback if a handshake or callback fails, and a traceback may quote a
             request. This loop logs one constant text.
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import socket
from collections.abc import Callable, Mapping
from typing import Any

from .slow_clients import CONNECTIONS

HANDSHAKE = 5.0  # seconds
log = logging.getLogger("sfumato.server")


class Loop(asyncio.SelectorEventLoop):
    """asyncio's event loop with these limits."""

    def __init__(self, selector: selectors.BaseSelector | None = None) -> None:
        super().__init__(selector)
        if os.environ.get("SFUMATO_DEBUG") != "1":
            self.set_exception_handler(_log_constant_text)

    async def create_server(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("ssl") is not None:
            kwargs.setdefault("ssl_handshake_timeout", HANDSHAKE)
        return await super().create_server(*args, **kwargs)

    async def _accept_connection2(
        self,
        factory: Callable[[], asyncio.BaseProtocol],
        conn: socket.socket,
        extra: Mapping[str, object],
        *more: object,
    ) -> None:
        """Handle an accepted connection, and count it until its handshake has ended."""
        who = CONNECTIONS.address(extra.get("peername"))
        if not CONNECTIONS.may(who):
            conn.close()
            return
        CONNECTIONS.add(who)
        try:
            accept = super()._accept_connection2  # type: ignore[misc]  # private to asyncio
            await accept(factory, conn, extra, *more)
        finally:
            CONNECTIONS.drop(who)


def _log_constant_text(_: asyncio.AbstractEventLoop, about: Mapping[str, object]) -> None:
    """Log a constant text in place of asyncio's traceback."""
    log.error(
        "a connection ended in an unexpected way"
        if "transport" in about or "protocol" in about
        else "something ended in an unexpected way"
    )
