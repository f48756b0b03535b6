"""Ten thousand requests that nobody should send, on raw sockets: none is answered by a failure, and
the service is the same afterwards.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from .mangling import Mangler
from .service import SQL, Running

pytestmark = pytest.mark.xdist_group("server")

STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
AT_ONCE = 100
LARGE = 10 * 2**20


def processes(service: Running) -> set[int]:
    """The service and its workers."""
    pids, waiting = set(), [service.process.pid]
    while waiting:
        pid = waiting.pop()
        pids.add(pid)
        waiting += map(
            int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        )
    return pids


def memory(service: Running) -> int:
    """Bytes that the service has in memory."""
    return (
        int(Path(f"/proc/{service.process.pid}/statm").read_text(encoding="ascii").split()[1])
        * 4096
    )


async def reply(port: int, request: bytes) -> bytes:
    """Send a request and return what comes back until the connection ends. A server that waits for
    more gets the end of the stream after 0.3 s.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    try:
        writer.write(request)
        for patience in (0.3, 30.0):
            try:
                async with asyncio.timeout(patience):
                    await writer.drain()
                    while part := await reader.read(65536):
                        received += part
                break
            except TimeoutError:
                writer.write_eof()
    except (ConnectionError, OSError):
        pass
    finally:
        writer.close()
    return received


async def many(service: Running, seed: int, count: int) -> Counter[str]:
    """Send so many, and count how they were answered."""
    mangler, statuses = Mangler(seed, service.deployment.tokens["bob"]), Counter[str]()

    async def send(request: bytes) -> None:
        received = await reply(service.port, request)
        for status in STATUS.findall(received):
            statuses[status.decode()] += 1
            if status >= b"500":
                statuses[f"{request[:300]!r} → {received[:300]!r}"] += 1
        statuses["closed"] += not received

    async def client() -> None:
        for request in waiting:
            await send(request)

    waiting = (mangler.request() for _ in range(count))  # whoever is done takes the next
    await asyncio.gather(*(client() for _ in range(AT_ONCE)))
    return statuses


def unharmed(service: Running, before: set[int]) -> None:
    """The same processes, and they answer."""
    assert processes(service) == before
    for method, path in (("GET", "/api/health"), ("POST", "/api/datasets/visits/plan")):
        body = {"json": {"sql": SQL, "epsilon": "0.5"}} if method == "POST" else {}
        assert (
            service.http.request(
                method, service.url + path, headers=service.deployment.header("bob"), **body
            ).status_code
            == 200
        )


def check(service: Running, seed: int, count: int) -> Counter[str]:
    before = processes(service)
    statuses = asyncio.run(many(service, seed, count))
    assert [key for key in statuses if key.startswith(("5", "b"))] == []
    assert statuses["400"] > count // 20
    assert statuses["422"] > count // 50
    unharmed(service, before)
    return statuses


def test_five_thousand_malformed_requests(service: Running) -> None:
    check(service, 1, 5_000)


@pytest.mark.slow
def test_a_hundred_thousand_malformed_requests(service: Running) -> None:
    check(service, 2, 5_000)  # what a process takes once is taken
    first = memory(service)
    check(service, 3, 100_000)
    assert memory(service) < 1.05 * first + 2**20


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
def test_ten_megabytes(service: Running, chunked: bool) -> None:
    """Refused before it is read to its end."""
    before, held = processes(service), memory(service)
    head = (
        b"POST /api/datasets/visits/plan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        + service.deployment.tokens["bob"].encode()
        + b"\r\n"
    )
    body = b"[" * LARGE
    sent = (
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % LARGE + body + b"\r\n0\r\n\r\n"
        if chunked
        else b"Content-Length: %d\r\n\r\n" % LARGE + body
    )

    async def all_at_once() -> list[bytes]:
        return await asyncio.gather(
            *(
                reply(service.port, head + b"Content-Type: application/json\r\n" + sent)
                for _ in range(8)
            )
        )

    assert {
        status for received in asyncio.run(all_at_once()) for status in STATUS.findall(received)
    } == {b"413"}
    assert memory(service) < held + 8 * 2**20
    unharmed(service, before)


@pytest.mark.parametrize(
    ("head", "body", "statuses"),
    [
        (b"A: b\r\n" * 10_000, b"", {b"400", b"431"}),
        (b"A: " + b"b" * 200_000 + b"\r\n", b"", {b"400", b"431"}),
        (b"", b"[" * 60_000, {b"422"}),
        (b"", b'{"sql": ' + b'{"a": ' * 9000 + b"1" + b"}" * 9001, {b"422"}),
        (b"", b'{"sql": "' + b"(" * 9_990 + b'", "epsilon": 1}', {b"400"}),
        (b"", b'{"sql": "SELECT ' + b"-" * 9_900 + b'1", "epsilon": 1}', {b"400"}),
        (
            b"",
            b'{"sql": "SELECT COUNT(*) FROM visits", "epsilon": ' + b"1" * 50_000 + b"}",
            {b"422"},
        ),
    ],
    ids=["headers", "a header", "lists", "objects", "brackets", "signs", "digits"],
)
def test_too_much_of_one_thing(
    service: Running, head: bytes, body: bytes, statuses: set[bytes]
) -> None:
    before, token = processes(service), service.deployment.tokens["bob"].encode()
    about = (
        b"Authorization: Bearer "
        + token
        + b"\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n"
        % len(body)
    )
    received = asyncio.run(
        reply(
            service.port,
            b"POST /api/datasets/visits/plan HTTP/1.1\r\nHost: x\r\n"
            + about
            + head
            + b"\r\n"
            + body,
        )
    )
    assert set(STATUS.findall(received)) <= statuses
    unharmed(service, before)


SLOW = {
    "head": b"GET /api/health HTTP/1.1\r\nHost: x\r\nA: ",
    "body": (
        b"POST /api/datasets/visits/plan HTTP/1.1\r\nHost: x\r\nContent-Type: "
        b"application/json\r\nContent-Length: 9000\r\nAuthorization: Bearer "
    ),
}


def test_slow_requests_are_ended_and_hold_nobody_up(service: Running) -> None:
    """A hundred clients of each kind that send a letter now and then: others are answered
    meanwhile, and all of these are let go.
    """
    before = processes(service)
    parts = {**SLOW, "body": SLOW["body"] + service.deployment.tokens["bob"].encode() + b"\r\n\r\n"}

    async def dribble(part: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        try:
            writer.write(part)
            while True:
                try:
                    async with asyncio.timeout(0.5):
                        return await reader.read(65536)
                except TimeoutError:
                    writer.write(b"x")
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def together() -> list[bytes]:
        slow = [asyncio.create_task(dribble(part)) for part in parts.values() for _ in range(100)]
        await asyncio.sleep(0.2)
        prompt = await reply(
            service.port, b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        assert STATUS.findall(prompt) == [b"200"]
        assert not all(task.done() for task in slow)
        async with asyncio.timeout(120):
            return await asyncio.gather(*slow)

    assert {
        status for received in asyncio.run(together()) for status in STATUS.findall(received)
    } <= {b"408"}
    unharmed(service, before)


def test_the_manglers_requests_are_of_many_kinds() -> None:
    mangler = Mangler(5, "t" * 64)
    requests = {mangler.request() for _ in range(1000)}
    assert len(requests) > 700
    assert any(b"\x00" in request for request in requests)
