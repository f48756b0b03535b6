"""HTTP/1.1 as uvicorn reads it, for clients that do not take for ever.

*Reading*   Whoever has begun a request, or a connection, ends it within a time.
*Writing*   Whoever is written to reads, at a kilobyte a second or so. A connection that does not is
            cut, with what was kept for it.
*Strict*    Lines of a head end with CR LF, and none goes on in the next one. h11 is lenient there,
            and a proxy in front may not be: then the two would see different requests in the same
            bytes.
*Address*   One address has so many connections at a time. One more is closed at once.
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
UNREAD = 30.0  # seconds within which a client that is written to reads
LEAST = 2**15  # so many bytes, or all that there are
PIECE = 2**14  # that TLS is given at once


class Connections:
    """How many connections each address has. One for each process."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def address(self, peer: Any) -> str:
        """The host of a peer; all who come by a socket without addresses are one."""
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
"""Of this process. The configuration says how many."""
_BLANK = re.compile(rb"\n\r?\n")
_LENIENT = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]")
"""A line that ends without CR, a CR inside a line, and a line that goes on in the next."""


class Strict(ReceiveBuffer):
    """h11's buffer, for lines that end with CR LF alone."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        end = _BLANK.search(self._data)
        if self._data[:2] != b"\r\n" and _LENIENT.search(
            self._data, 0, len(self._data) if end is None else end.end()
        ):
            raise h11.RemoteProtocolError("a line of the head does not end as it must")
        return super().maybe_extract_lines()


class Paced:
    """A transport of TLS, written to in pieces. asyncio's own takes all that it is given into a
    buffer that nobody sees; what it does not take is kept here: so writing is paused as long as
    there is any of it, and its size tells whether somebody reads.
    """

    def __init__(
        self, transport: Any, pause: Callable[[], None], resume: Callable[[], None]
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
        """The transport is full, or takes more."""
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
        found: int = self._transport.get_write_buffer_size()
        return self._size + found

    def is_closing(self) -> bool:
        return self._closing or bool(self._transport.is_closing())

    def close(self) -> None:
        """When all that waits is sent; nothing more is read."""
        self._closing = True
        if self._waiting:
            self._transport.pause_reading()
        else:
            self._transport.close()

    def forget(self) -> None:
        """What waits is sent to nobody."""
        self._waiting.clear()
        self._size = 0

    def abort(self) -> None:
        self.forget()
        self._transport.abort()


class Protocol(H11Protocol):
    """Closes a connection whose request does not come to its end in time, or whose replies are not
    read.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _paced: Paced | None = None
    _who = ""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn._receive_buffer = Strict()

    def connection_made(self, transport: Any) -> None:
        self._who = CONNECTIONS.address(transport.get_extra_info("peername"))
        CONNECTIONS.add(self._who)
        if transport.get_extra_info("sslcontext") is None:
            transport.set_write_buffer_limits(
                high=0
            )  # writing is paused as long as anything waits to be read
            super().connection_made(transport)
        else:
            transport.set_write_buffer_limits(high=1)  # TLS is full at so many bytes, not beyond
            self._paced = Paced(transport, self._waits, self._goes_on)
            super().connection_made(self._paced)  # type: ignore[arg-type]
        own = transport.get_extra_info("socket")
        if own is not None and own.family in (
            socket.AF_INET,
            socket.AF_INET6,
        ):  # what is read is seen soon, and not when megabytes were
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 2 * LEAST)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._watch()
        else:
            self._rest()

    def pause_writing(self) -> None:
        if self._paced is None:
            self._waits()
        else:
            self._paced.go_on(full=True)

    def resume_writing(self) -> None:
        if self._paced is None:
            self._goes_on()
        else:
            self._paced.go_on(full=False)

    def connection_lost(self, exc: Exception | None) -> None:
        CONNECTIONS.drop(self._who)
        self._rest()
        self._read()
        if self._paced is not None:
            self._paced.forget()
        super().connection_lost(exc)

    def _waits(self) -> None:
        super().pause_writing()
        self._read()
        self._wait()

    def _goes_on(self) -> None:
        self._read()
        super().resume_writing()

    def _wait(self) -> None:
        seconds = (
            UNREAD if self._paced is None else 2 * UNREAD
        )  # asyncio sends what it holds of TLS down to a quarter before it takes more
        self._unread = self.loop.call_later(
            seconds, self._stalled, self.transport.get_write_buffer_size()
        )

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
