"""Write to a client that may be slow: what it does not read in time ends the connection."""

from __future__ import annotations

import asyncio
import ssl

PIECE = 2**15  # bytes that a client must read
UNREAD = 30.0  # seconds within which it must
HANDSHAKE = 5.0
LARGE = 2**16


class ConnectionWriter:
    """Collects messages of one connection, and sends them."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._writer.transport.set_write_buffer_limits(high=PIECE)
        self._waiting = bytearray()

    def add(self, data: bytes) -> None:
        self._waiting += data

    async def send(self, data: bytes) -> None:
        self.add(data)
        await self.flush()

    async def flush(self) -> None:
        """Send all that waits, piece by piece."""
        waiting, self._waiting = memoryview(bytes(self._waiting)), bytearray()
        for start in range(0, len(waiting), PIECE):
            self._writer.write(waiting[start : start + PIECE])
            try:
                async with asyncio.timeout(UNREAD):
                    await self._writer.drain()
            except TimeoutError:
                self._writer.transport.abort()
                raise ConnectionResetError from None

    async def flush_if_large(self) -> None:
        if len(self._waiting) > LARGE:
            await self.flush()

    async def start_tls(self, context: ssl.SSLContext, reader: asyncio.StreamReader) -> None:
        """Encrypt the connection. Bytes that came before the handshake end it: they were not
        protected.
        """
        if reader._buffer:  # type: ignore[attr-defined]  # private to asyncio
            raise ConnectionResetError
        await self.send(b"S")
        await self._writer.start_tls(context, ssl_handshake_timeout=HANDSHAKE)

    def close(self) -> None:
        """Close the connection; a client that reads nothing is cut off."""
        transport = self._writer.transport
        if transport.is_closing():
            return
        self._writer.close()
        asyncio.get_running_loop().call_later(HANDSHAKE, transport.abort)
