"""Messages of the PostgreSQL protocol that no client would send, from a seed; and a client that
speaks the protocol by itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import socket
import struct
from contextlib import suppress
from functools import cache

TEXTS = [
    "SELECT 1",
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT note FROM visits",
    "SELECT * FROM visits",
    "EXPLAIN SELECT COUNT(*) FROM visits WHERE age > $1",
    "SELECT relname FROM pg_class WHERE oid = $1",
    "SET sfumato.intervals = on",
    "SHOW ALL",
    "BEGIN; SELECT 1; ROLLBACK",
    "SELECT '" + "x" * 3000,
    "(" * 2000,
    "/* sfumato: epsilon */ SELECT 1",
    "SELECT \0 1",
    "é\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    ";;;;",
    "",
]
KINDS = [bytes([kind]) for kind in b"QPBDECSHFXpdcf"]


def packed(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


class WireMangler:
    """Sequences of messages from a seed. None of them sets an amount, so none may be charged."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def messages(self, count: int) -> bytes:
        return b"".join(self.message() for _ in range(count))

    def message(self) -> bytes:
        """Return a message: half of them are well formed, the others are changed somewhere."""
        valid = self.valid()
        change = self.pick.randrange(12)
        if change < 6:
            return valid
        place = self.pick.randrange(len(valid))
        match change:
            case 6:  # a bit
                flipped = bytes([valid[place] ^ (1 << self.pick.randrange(8))])
                return valid[:place] + flipped + valid[place + 1 :]
            case 7:  # cut, with a right length
                return packed(valid[:1], valid[5 : max(5, place)])
            case 8:  # a wrong length
                size = self.pick.choice([0, 3, 4, 5, -1, 2**31 - 1, 65_536, 65_541, len(valid) * 2])
                return valid[:1] + struct.pack("!i", size) + valid[5:]
            case 9:  # another kind
                return self.pick.choice([*KINDS, b"\0", b"\xff", b"Z"]) + valid[1:]
            case 10:  # more after the end
                return packed(valid[:1], valid[5:] + self.pick.randbytes(self.pick.randrange(40)))
            case _:
                return self.pick.randbytes(self.pick.randrange(1, 60))

    def valid(self) -> bytes:
        text = self.pick.choice(TEXTS).encode("utf-8", "surrogatepass")
        name = self.pick.choice([b"", b"s", b"\xff", b"a" * 300])
        match self.pick.randrange(8):
            case 0 | 1:
                return packed(b"Q", text + b"\0")
            case 2:
                oids = [self.pick.choice([0, 20, 25, 1700, 1009, 999_999]) for _ in range(2)]
                body = struct.pack("!H", len(oids)) + b"".join(struct.pack("!I", i) for i in oids)
                return packed(b"P", name + b"\0" + text + b"\0" + body)
            case 3:
                count = self.pick.choice([0, 1, 2, 3, 65_535])
                cells = [self.pick.choice([b"1", b"x" * 9, b"\0" * 8, b"{1,2}", b"\xff"])
                         for _ in range(min(count, 5))]  # fmt: skip
                body = struct.pack("!H", 1) + struct.pack("!H", self.pick.choice([0, 1, 2, 9]))
                body += struct.pack("!H", count)
                body += b"".join(struct.pack("!i", len(cell)) + cell for cell in cells)
                return packed(b"B", b"\0" + name + b"\0" + body + struct.pack("!HH", 1, 1))
            case 4:
                return packed(b"D", self.pick.choice([b"S", b"P", b"x"]) + name + b"\0")
            case 5:
                rows = self.pick.choice([0, 1, -1, 2**31 - 1])
                return packed(b"E", b"\0" + struct.pack("!i", rows))
            case 6:
                return packed(b"C", self.pick.choice([b"S", b"P"]) + name + b"\0")
            case _:
                return packed(self.pick.choice([b"S", b"H"]), b"")

    def startup(self) -> bytes:
        """Return bytes in place of a startup message."""
        parameters = self.pick.choice(
            [b"user\0ada\0database\0visits\0\0", b"user\0ada\0", b"\0", b"user\0\xff\0\0", b""]
        )
        version = self.pick.choice([3 << 16, (3 << 16) + 2, 2 << 16, 0, 80877102, 80877103,
                                    80877104, 2**31 - 1])  # fmt: skip
        size = self.pick.choice([len(parameters) + 8, 8, 4, 0, 10_001, 2**31 - 1])
        return struct.pack("!ii", size, version) + parameters + self.messages(2)


@cache
def _salted(token: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", token.encode(), salt, 4096)


def log_in(port: int, user: str, token: str, database: str = "visits") -> socket.socket:
    """Open a connection and prove a token, by RFC 5802."""
    link = socket.create_connection(("127.0.0.1", port), timeout=60)
    body = f"user\0{user}\0database\0{database}\0\0".encode()
    link.sendall(struct.pack("!ii", len(body) + 8, 3 << 16) + body)
    _read(link)
    bare = "n=,r=fyko+d2lbbFgONRv9qkxdawL"
    first = b"n,," + bare.encode()
    link.sendall(packed(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first))
    reply = _read(link)[4:].decode()
    nonce, salt = (part[2:] for part in reply.split(",")[:2])
    salted = _salted(token, base64.b64decode(salt))
    key = hmac.digest(salted, b"Client Key", "sha256")
    without_proof = f"c=biws,r={nonce}"
    signed = f"{bare},{reply},{without_proof}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
    link.sendall(packed(b"p", f"{without_proof},p={proof}".encode()))
    while (kind := _read_kind(link)) != b"Z":
        assert kind != b"E"
    return link


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = link.recv(size - len(parts))
        if not part:
            raise ConnectionResetError
        parts += part
    return parts


def _read(link: socket.socket) -> bytes:
    _exactly(link, 1)
    (size,) = struct.unpack("!i", _exactly(link, 4))
    return _exactly(link, size - 4)


def _read_kind(link: socket.socket) -> bytes:
    kind = _exactly(link, 1)
    (size,) = struct.unpack("!i", _exactly(link, 4))
    _exactly(link, size - 4)
    return kind


def everything(link: socket.socket, sent: bytes) -> bytes:
    """Send bytes, end the stream, and return all that comes until the other side closes."""
    received = b""
    with link, suppress(ConnectionError):
        link.sendall(sent)
        link.shutdown(socket.SHUT_WR)
        while part := link.recv(65_536):
            received += part
    return received
