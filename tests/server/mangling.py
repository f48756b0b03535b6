"""Requests that no client would send, from a seed: good ones that were cut, flipped, repeated and
filled with what does not belong there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

METHODS = [
    b"GET",
    b"POST",
    b"PUT",
    b"DELETE",
    b"PATCH",
    b"HEAD",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"get",
    b"G\x00T",
    b"A" * 300,
    b"PRI",
    b"",
]
PATHS = [
    b"/",
    b"/api/health",
    b"/api/me",
    b"/api/datasets",
    b"/api/datasets/visits",
    b"/api/datasets/visits/plan",
    b"/api/datasets/visits/release",
    b"/api/datasets/visits/history?after=-1&limit=9999999999999999999999",
    b"/api/datasets/visits/history?after=%00&limit=\xff",
    b"/api/datasets/visits/cards/" + b"9" * 400,
    b"/api/datasets/visits/cards/%F0%28%8C%28",
    b"/api/datasets/../../etc/passwd",
    b"/static/../app.py",
    b"/static/%2e%2e/%2e%2e/app.py",
    b"/static/..%5c..%5capp.py",
    b"/static/index.html%00.js",
    b"/api/datasets/%2e%2e/plan",
    b"//api//me",
    b"http://[::1/api/me",
    b"*",
    b"/" + b"a" * 5000,
    b"/\xe2\x80\xae",
    b"/api/datasets/" + b"%ff" * 50,
    b"/openapi.json",
]
TEXTS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT",
    "\x00",
    "'" * 9000,
    "(" * 9000,
    "SELECT 1;" * 900,
    "é\ud800x",
    "a" * 10_001,
    "",
]
NUMBERS = [
    "1",
    "0.1",
    "-1",
    "1e999",
    "NaN",
    "9" * 400,
    "1/0",
    "0x1",
    "١",
    0,
    -1,
    1e308,
    True,
    None,
    [],
    {},
    "1" * 31,
]


class Mangler:
    """Requests from a seed. `token` is that of somebody who may ask."""

    def __init__(self, seed: int, token: str) -> None:
        self.pick = random.Random(seed)
        self.token = token.encode()
        rare: list[Callable[[], bytes]] = [
            self.cut,
            self.flipped,
            self.headers,
            self.lengths,
            self.chunks,
            self.noise,
            self.lines,
            self.pipelined,
        ]
        self.kinds = [self.valid, self.valid, self.body, self.body, *rare]

    def request(self) -> bytes:
        return self.pick.choice(self.kinds)()

    def valid(self) -> bytes:
        """A request with a good form and any content."""
        return self.compose(self.pick.choice(METHODS[:8]), self.pick.choice(PATHS), self.content())

    def compose(self, method: bytes, path: bytes, body: bytes, *more: bytes) -> bytes:
        lines = [method + b" " + path + b" HTTP/1.1", b"Host: x", b"Connection: close", *more]
        if self.pick.random() < 0.8:
            lines.append(b"Authorization: Bearer " + self.token)
        if self.pick.random() < 0.8:
            lines += [
                b"Content-Type: application/json",
                b"Idempotency-Key: " + self.pick.choice([b"k1", b"", b"\xff", b"a b", b"k" * 65]),
            ]
        return b"\r\n".join([*lines, b"Content-Length: " + str(len(body)).encode(), b"", body])

    def content(self) -> bytes:
        """A body that is nearly a question."""
        kind = self.pick.randrange(8)
        question = {
            "sql": self.pick.choice(TEXTS),
            self.pick.choice(
                ["epsilon", "within", "promise", "delta", "confidence", "x"]
            ): self.pick.choice(NUMBERS),
        }
        question |= (
            {
                self.pick.choice(
                    ["group_size", "parameters", "delta", "sql", "epsilon"]
                ): self.pick.choice(NUMBERS)
            }
            if kind > 4
            else {}
        )
        text = json.dumps(question).encode()
        deep = self.pick.choice([b"[", b'{"a":', b'[{"a":']) * self.pick.choice([10, 1000, 20_000])
        return [
            text,
            text,
            text[: self.pick.randrange(len(text) + 1)],
            deep,
            self.pick.randbytes(200),
            b"\xef\xbb\xbf" + text,
            text * 3,
            b"",
        ][kind]

    def body(self) -> bytes:
        return self.compose(b"POST", self.pick.choice(PATHS[5:7]), self.content())

    def cut(self) -> bytes:
        request = self.body()
        return request[: self.pick.randrange(len(request))]

    def flipped(self) -> bytes:
        request = bytearray(self.body())
        for _ in range(1 + self.pick.randrange(8)):
            request[self.pick.randrange(len(request))] = self.pick.randrange(256)
        return bytes(request)

    def headers(self) -> bytes:
        """Headers that are too many, too long, repeated, folded or without a name."""
        count = self.pick.choice([1, 70, 300])
        line = self.pick.choice(
            [
                b"A: b",
                b"A:" + b"x" * 900,
                b": b",
                b"A b: c",
                b" folded",
                b"A\x00: b",
                b"Host: y",
                b"Transfer-Encoding: chunked",
                b"Expect: 100-continue",
            ]
        )
        return self.compose(b"GET", self.pick.choice(PATHS), b"", *([line] * count))

    def lengths(self) -> bytes:
        """Bodies that are not as long as they say."""
        length = self.pick.choice(
            [
                b"-1",
                b"+5",
                b"5, 5",
                b"5, 6",
                b"0x5",
                b"9" * 19,
                b"9" * 5000,
                b"1e3",
                b"",
                b"\xd9\xa1",
                b"65537",
                b"10485760",
            ]
        )
        return (
            b"POST /api/datasets/visits/plan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
            + self.token
            + b"\r\nContent-Length: "
            + length
            + b"\r\n\r\n{}"
        )

    def chunks(self) -> bytes:
        """Chunks of odd sizes."""
        size = self.pick.choice(
            [b"-1", b"fffffffffffffffff", b"zz", b"5;" + b"x" * 9000, b"2", b"", b"0x2", b"2 "]
        )
        head = (
            b"POST /api/datasets/visits/plan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
            + self.token
            + b"\r\nTransfer-Encoding: "
        )
        return (
            head
            + self.pick.choice(
                [b"chunked", b"gzip, chunked", b"identity", b"chunked, chunked", b"xchunked"]
            )
            + b"\r\n\r\n"
            + size
            + b"\r\n{}\r\n0\r\n\r\n"
        )

    def noise(self) -> bytes:
        return self.pick.randbytes(1 + self.pick.randrange(400)) + self.pick.choice(
            [b"", b"\r\n\r\n"]
        )

    def lines(self) -> bytes:
        """First lines of many kinds."""
        method, path = self.pick.choice(METHODS), self.pick.choice(PATHS)
        version = self.pick.choice(
            [
                b"HTTP/1.1",
                b"HTTP/1.0",
                b"HTTP/0.9",
                b"HTTP/2.0",
                b"HTTP/9.9",
                b"HTTQ/1.1",
                b"",
                b"HTTP/1.1 x",
            ]
        )
        return (
            method
            + b" "
            + path
            + b" "
            + version
            + self.pick.choice([b"\r\n\r\n", b"\n\n", b"\r\r", b"\r\nHost: x\r\n\r\n"])
        )

    def pipelined(self) -> bytes:
        """One after the other, the second hidden in the first."""
        return (
            self.compose(b"POST", b"/api/health", b"GET /api/me HTTP/1.1\r\nHost: x\r\n\r\n")
            + self.valid()
        )
