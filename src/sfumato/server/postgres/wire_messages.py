"""The messages of the PostgreSQL protocol, version 3: read with limits, and written as bytes.

A message is a type (one byte), its length with itself (four bytes), and a body. The first message
of a connection has no type.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Mapping, Sequence

MOST_BODY = 64 * 1024
MOST_STARTUP = 10_000
SECONDS = 15.0  # for a message that has begun, and for a whole startup
PROTOCOL = 3
CANCEL, TLS, GSS = 80877102, 80877103, 80877104

AUTHENTICATED = b"R\x00\x00\x00\x08\x00\x00\x00\x00"
PARSED, BOUND, CLOSED = b"1\x00\x00\x00\x04", b"2\x00\x00\x00\x04", b"3\x00\x00\x00\x04"
NO_DATA, EMPTY, SUSPENDED = b"n\x00\x00\x00\x04", b"I\x00\x00\x00\x04", b"s\x00\x00\x00\x04"


class MalformedError(Exception):
    """The bytes are none of the protocol's messages: the connection ends."""


class MessageFields:
    """Reads the fields of a message's body, in order."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def text(self) -> str:
        """Read a text that ends with a zero byte."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise MalformedError
        raw, self._at = self._body[self._at : end], end + 1
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise MalformedError from None

    def raw(self, size: int) -> bytes:
        """Read so many bytes."""
        if size < 0 or self._at + size > len(self._body):
            raise MalformedError
        self._at += size
        return self._body[self._at - size : self._at]

    def rest(self) -> bytes:
        return self.raw(len(self._body) - self._at)

    def int16(self) -> int:
        return int(struct.unpack("!H", self.raw(2))[0])

    def int32(self) -> int:
        return int(struct.unpack("!i", self.raw(4))[0])

    def cell(self) -> bytes | None:
        """Read a length and as many bytes; −1 is NULL."""
        size = self.int32()
        return None if size == -1 else self.raw(size)

    def end(self) -> None:
        """Refuse bytes after the last field."""
        if self._at != len(self._body):
            raise MalformedError


async def read_startup(reader: asyncio.StreamReader) -> MessageFields:
    """Read a message without a type."""
    (size,) = struct.unpack("!i", await reader.readexactly(4))
    if not 8 <= size <= MOST_STARTUP:
        raise MalformedError
    return MessageFields(await reader.readexactly(size - 4))


async def read_message(
    reader: asyncio.StreamReader, idle: float | None
) -> tuple[bytes, MessageFields]:
    """Wait for a message for `idle` seconds; once begun, it has `SECONDS` to end."""
    async with asyncio.timeout(idle):
        kind = await reader.readexactly(1)
    async with asyncio.timeout(SECONDS):
        (size,) = struct.unpack("!i", await reader.readexactly(4))
        if not 4 <= size <= MOST_BODY:
            raise MalformedError
        return kind, MessageFields(await reader.readexactly(size - 4))


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """Encode a text that ends with a zero byte."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


def authentication(code: int, body: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!i", code) + body)


def parameter_status(name: str, value: str) -> bytes:
    return message(b"S", text(name) + text(value))


def ready(status: bytes) -> bytes:
    return message(b"Z", status)


def key_data(process: int, secret: int) -> bytes:
    return message(b"K", struct.pack("!II", process, secret))


def negotiation(options: Sequence[str]) -> bytes:
    """Offer version 3.0, and name the options that are unknown here."""
    named = b"".join(text(option) for option in options)
    return message(b"v", struct.pack("!ii", PROTOCOL << 16, len(options)) + named)


def report(kind: bytes, fields: Mapping[str, str]) -> bytes:
    """Write an error (`E`) or a notice (`N`) by its fields."""
    body = b"".join(name.encode() + text(value) for name, value in fields.items() if value)
    return message(kind, body + b"\0")


def row_description(columns: Iterable[tuple[str, int, int, int]]) -> bytes:
    """Describe columns: name, type, size of the type, and the form of its values."""
    cells = [
        text(name) + struct.pack("!IhIhih", 0, 0, oid, size, -1, form)
        for name, oid, size, form in columns
    ]
    return message(b"T", struct.pack("!H", len(cells)) + b"".join(cells))


def parameter_description(oids: Sequence[int]) -> bytes:
    return message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def data_row(cells: Sequence[bytes | None]) -> bytes:
    parts = [
        b"\xff\xff\xff\xff" if cell is None else struct.pack("!i", len(cell)) + cell
        for cell in cells
    ]
    return message(b"D", struct.pack("!H", len(parts)) + b"".join(parts))


def complete(tag: str) -> bytes:
    return message(b"C", text(tag))
