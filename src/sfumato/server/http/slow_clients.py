"""Limits on slow clients: uvicorn's HTTP/1.1 protocol with timeouts for requests and replies.

*Reading*   A client must finish a request, or send one on a new connection, within `SECONDS`.
*Writing*   A client must read its reply, at about a kilobyte a second. The protocol cuts a
            connection that does not, and drops its unsent bytes.
*Strict*    Header lines end with CR LF, and none continues on the next line. h11 is lenient there,
            and a proxy in front may not be: the two would see different requests in the same bytes.
*Address*   An address may have a limited number of connections. One more is closed at once.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 15.0
UNREAD = 30.0  # seconds within which a client must read
LEAST = 2**15  # so many bytes, or all that remain
PIECE = 2**14  # bytes given to TLS at once


class Connections:
    """Counts the connections of each address, in one process."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def address(self, peer: object) -> str:
        """Return the host of a peer; all peers of a socket without addresses count as one."""
        return str(peer[0]) if isinstance(peer, tuple) else ""

    def may(self, who: str) -> bool:
        return self._open[who] < self.most

    def add(self, who: str) -> None:
        self._open[who] += 1

    def drop(self, who: str) -> None:
        self._open[who] -= 1
        if self._open[who] <= 0:
            del self._open[who]


CONNECTIONS = Connections(100)
"""The counter of this process. The configuration sets its limit."""
_BLANK = re.compile(rb"\n\r?\n")
_LENIENT = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]")
"""A line end without CR, a CR inside a line, and a line that continues on the next."""


class StrictBuffer(ReceiveBuffer):
    """h11's buffer, accepting only lines that end with CR LF."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        end = _BLANK.search(self._data)
        if self._data[:2] != b"\r\n" and _LENIENT.search(
            self._data, 0, len(self._data) if end is None else end.end()
        ):
            raise h11.RemoteProtocolError("a line of the head does not end as it must")
        return super().maybe_extract_lines()


class PacedTransport:
    """A TLS transport that is written to in pieces. asyncio's own transport hides an unlimited
    buffer. This one keeps unsent bytes itself: it pauses writing while there are any, and their
    number shows whether the client reads.
    """

    def __init__(
        self, transport: asyncio.Transport, pause: Callable[[], None], resume: Callable[[], None]
    ) -> None:
        self._transport, self._pause, self._resume = transport, pause, resume
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._full = self._paused = self._closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if data:
            self._waiting.append(memoryview(data))
            self._size += len(data)
            self.go_on(full=self._full)

    def go_on(self, *, full: bool) -> None:
        """Send waiting bytes unless the transport is full."""
        self._full = full
        while self._waiting and not self._full:  # which it may say when it is written to
            first = self._waiting.popleft()
            if len(first) > PIECE:
                self._waiting.appendleft(first[PIECE:])
            self._size -= len(first[:PIECE])
            self._transport.write(first[:PIECE])
        if bool(self._waiting) != self._paused:
            self._paused = not self._paused
            (self._pause if self._paused else self._resume)()
        if self._closing and not self._waiting:
            self._transport.close()

    def get_write_buffer_size(self) -> int:
        unsent: int = self._transport.get_write_buffer_size()
        return self._size + unsent

    def is_closing(self) -> bool:
        return self._closing or bool(self._transport.is_closing())

    def close(self) -> None:
        """Close once all waiting bytes are sent; read nothing more."""
        self._closing = True
        if self._waiting:
            self._transport.pause_reading()
        else:
            self._transport.close()

    def forget(self) -> None:
        """Drop the waiting bytes."""
        self._waiting.clear()
        self._size = 0

    def abort(self) -> None:
        self.forget()
        self._transport.abort()


class TimedProtocol(H11Protocol):
    """Closes a connection whose request does not finish in time, or whose replies are not read."""

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _paced: PacedTransport | None = None
    _who = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn._receive_buffer = StrictBuffer()

    def connection_made(  # type: ignore[override]  # as uvicorn has it
        self, transport: asyncio.Transport
    ) -> None:
        self._who = CONNECTIONS.address(transport.get_extra_info("peername"))
        CONNECTIONS.add(self._who)
        if transport.get_extra_info("sslcontext") is None:
            # writing is paused as long as anything waits to be read
            transport.set_write_buffer_limits(high=0)
            super().connection_made(transport)
        else:
            transport.set_write_buffer_limits(high=1)  # TLS is full at so many bytes, not beyond
            self._paced = PacedTransport(transport, self._pause, self._resume)
            super().connection_made(
                self._paced  # type: ignore[arg-type]  # it passes on what it does not have
            )
        client_socket = transport.get_extra_info("socket")
        # what is read is seen soon, and not when megabytes were
        if client_socket is not None and client_socket.family in (socket.AF_INET, socket.AF_INET6):
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 2 * LEAST)
        self._start_request_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._start_request_timer()
        else:
            self._cancel_request_timer()

    def pause_writing(self) -> None:
        if self._paced is None:
            self._pause()
        else:
            self._paced.go_on(full=True)

    def resume_writing(self) -> None:
        if self._paced is None:
            self._resume()
        else:
            self._paced.go_on(full=False)

    def connection_lost(self, exc: Exception | None) -> None:
        CONNECTIONS.drop(self._who)
        self._cancel_request_timer()
        self._cancel_unread_timer()
        if self._paced is not None:
            self._paced.forget()
        super().connection_lost(exc)

    def _pause(self) -> None:
        super().pause_writing()
        self._cancel_unread_timer()
        self._start_unread_timer()

    def _resume(self) -> None:
        self._cancel_unread_timer()
        super().resume_writing()

    def _start_unread_timer(self) -> None:
        # asyncio sends what it holds of TLS down to a quarter before it takes more
        seconds = UNREAD if self._paced is None else 2 * UNREAD
        self._unread = self.loop.call_later(
            seconds, self._stalled, self.transport.get_write_buffer_size()
        )

    def _stalled(self, before: int) -> None:
        self._unread = None
        if before - self.transport.get_write_buffer_size() < LEAST:
            self.transport.abort()
        else:
            self._start_unread_timer()

    def _cancel_unread_timer(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _start_request_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS, self._close_late)

    def _cancel_request_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
