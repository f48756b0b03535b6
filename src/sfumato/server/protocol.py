"""HTTP/1.1 as uvicorn reads it, for clients that do not take for ever.

*Reading*   Whoever has begun a request, or a connection, ends it within a time.
*Writing*   Whoever is written to reads, at a kilobyte a second or so. A connection that does not is cut, with what was kept for it.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 15.0
UNREAD = 30.0  # seconds within which a client that is written to reads
LEAST = 2**15  # so many bytes, or all that there are


class Protocol(H11Protocol):
    """Closes a connection whose request does not come to its end in time, or whose replies are not read."""

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing is paused as long as anything waits to be read
        own = transport.get_extra_info("socket")
        if own is not None and own.family in (socket.AF_INET, socket.AF_INET6):  # what is read is seen soon, and not when megabytes were
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 2 * LEAST)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._watch()
        else:
            self._rest()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read()
        self._wait()

    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        self._read()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._unread = self.loop.call_later(UNREAD, self._stalled, self.transport.get_write_buffer_size())

    def _stalled(self, before: int) -> None:
        self._unread = None
        if before - self.transport.get_write_buffer_size() < LEAST:
            self.transport.abort()
        else:
            self._wait()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS, self._late)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
