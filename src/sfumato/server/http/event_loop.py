"""The event loop of a serving process: TLS handshakes that do not take for ever, connections that
are counted when they come, and constant texts in the log.

*Handshake*  A client has five seconds for it; asyncio alone gives sixty.
*Counted*    A connection counts for its address from the moment it is accepted, during its
             handshake too (`protocol.CONNECTIONS`). One too many is closed at once.
*Log*        asyncio writes a traceback where a handshake fails or a callback breaks, and a
             traceback may quote a request. Here it is one constant text.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from typing import Any

from .slow_clients import CONNECTIONS

HANDSHAKE = 5.0  # seconds
log = logging.getLogger("sfumato.server")


class Loop(asyncio.SelectorEventLoop):
    """asyncio's own, with these limits."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if os.environ.get("SFUMATO_DEBUG") != "1":
            self.set_exception_handler(_told)

    async def create_server(self, *given: Any, **named: Any) -> Any:
        if named.get("ssl") is not None:
            named.setdefault("ssl_handshake_timeout", HANDSHAKE)
        return await super().create_server(*given, **named)

    async def _accept_connection2(
        self, protocol_factory: Any, conn: socket.socket, extra: dict[str, Any], *more: Any
    ) -> None:
        """What asyncio does with an accepted connection. It returns when the handshake has ended,
        well or badly.
        """
        who = CONNECTIONS.address(extra.get("peername"))
        if not CONNECTIONS.may(who):
            conn.close()
            return
        CONNECTIONS.add(who)
        try:
            await super()._accept_connection2(protocol_factory, conn, extra, *more)  # type: ignore[misc]
        finally:
            CONNECTIONS.drop(who)


def _told(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
    """What asyncio could tell, without saying it."""
    log.error(
        "a connection ended in an unexpected way"
        if "transport" in about or "protocol" in about
        else "something ended in an unexpected way"
    )
