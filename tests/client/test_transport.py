"""Requests that are lost, refused, or answered by somebody else."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

import sfumato as sf
from sfumato.client import transport as module
from sfumato.client.transport import Wire
from sfumato.errors import Failed, Refused
from sfumato.server.http import problems
from sfumato.server.http.problems import Problem

from .behind import TOKEN


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody waits here; how long it would have been is written down."""
    pauses: list[float] = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    return pauses


def wire(*replies: Any, **how: Any) -> tuple[Wire, list[httpx.Request]]:
    """A wire whose other end says these things, one after the other."""
    waiting, requests = iter(replies), []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        reply = next(waiting)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Problem):
            return httpx.Response(reply.status, content=reply.body(), headers=reply.headers)
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    return Wire(
        "http://localhost:8000/", TOKEN, transport=httpx.MockTransport(answer), **how
    ), requests


LOST: list[Callable[[], Exception]] = [
    lambda: httpx.ConnectError("no"),
    lambda: httpx.ReadTimeout("late"),
    lambda: httpx.RemoteProtocolError("cut"),
    lambda: httpx.ReadError("reset"),
]


@pytest.mark.parametrize("lost", LOST)
def test_what_is_lost_is_sent_again_with_the_same_key(
    lost: Callable[[], Exception], slept: list[float]
) -> None:
    client_wire, requests = wire(lost(), lost(), {"n": 1})
    assert client_wire.post("/api/x", {"sql": "…"}, key="k1") == {"n": 1}
    assert [request.headers["Idempotency-Key"] for request in requests] == ["k1"] * 3
    assert len({request.content for request in requests}) == 1
    assert slept == sorted(slept)
    assert len(slept) == 2


@pytest.mark.parametrize(
    "problem",
    [
        problems.RUNNING,
        problems.RATE,
        problems.BUSY,
        problems.INTERNAL,
        httpx.Response(502),
        httpx.Response(504, text="<html>"),
    ],
)
def test_what_passes_is_waited_for(problem: Any, slept: list[float]) -> None:
    client_wire, requests = wire(problem, problem, {"n": 2})
    assert client_wire.post("/api/x", {}, key="k1") == {"n": 2}
    assert len(requests) == 3
    if isinstance(problem, Problem) and problem.headers:
        assert slept == [1.0, 1.0]


@pytest.mark.parametrize("problem", [problems.DEADLINE, problems.LOST, problems.INTERNAL])
def test_what_broke_after_the_charge_has_one_text(problem: Problem) -> None:
    client_wire, _ = wire(problem, retries=0)
    with pytest.raises(Failed) as caught:
        client_wire.post("/api/x", {}, key="k1")
    assert str(caught.value) == Failed.TEXT
    assert caught.value.__cause__ is None


def test_a_refusal_is_the_one_that_the_library_raises() -> None:
    refusal = Refused(
        "sql.raw-rows", "SELECT note\n       ^^^^", "only aggregates", "SELECT COUNT(*)"
    )
    client_wire, requests = wire(problems.problem_of(refusal))
    with pytest.raises(sf.Refused) as caught:
        client_wire.post("/api/x", {})
    assert (caught.value.code, caught.value.place, caught.value.reason, caught.value.rewrite) == (
        refusal.code,
        refusal.place,
        refusal.reason,
        refusal.rewrite,
    )
    assert str(caught.value) == str(refusal)
    assert len(requests) == 1


def test_a_spent_budget_is_a_spent_budget() -> None:
    refusal = sf.BudgetExceeded("budget.exceeded", "visits", "it does not fit", "a smaller cost")
    client_wire, _ = wire(problems.problem_of(refusal))
    with pytest.raises(sf.BudgetExceeded) as caught:
        client_wire.post("/api/x", {}, key="k")
    assert str(caught.value) == str(refusal)


def test_nobody_there(slept: list[float]) -> None:
    client_wire, requests = wire(*(httpx.ConnectError("[Errno 111] 10.0.0.7") for _ in range(7)))
    with pytest.raises(Refused) as caught:
        client_wire.get("/api/me")
    assert caught.value.code == "client.unreachable"
    assert "10.0.0.7" not in str(caught.value)
    assert len(requests) == 7
    assert sum(slept) < 10


def test_a_release_that_was_cut_off_names_its_key() -> None:
    client_wire, _ = wire(*(httpx.ReadTimeout("late") for _ in range(3)), retries=2)
    with pytest.raises(Refused) as caught:
        client_wire.post("/api/x", {}, key="mine-1")
    assert caught.value.code == "client.unreachable"
    assert "key='mine-1'" in caught.value.rewrite
    assert "only once" in caught.value.reason


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>welcome</html>"),
        httpx.Response(404, text="<html>no</html>"),
        httpx.Response(302, headers={"Location": "https://elsewhere.example"}),
        httpx.Response(400, json={"code": 7}),
        httpx.Response(403, json=["x"]),
    ],
    ids=["page", "no page", "elsewhere", "other problem", "a list"],
)
def test_somebody_else_answers(reply: httpx.Response) -> None:
    client_wire, requests = wire(reply)
    with pytest.raises(Refused) as caught:
        client_wire.get("/api/me")
    assert caught.value.code == "client.reply"
    assert len(requests) == 1


def test_the_token_is_in_one_header_and_nowhere_else() -> None:
    client_wire, requests = wire({"n": 1})
    client_wire.post("/api/x", {"sql": "SELECT"}, key="k")
    (request,) = requests
    assert [name for name, value in request.headers.items() if TOKEN in value] == ["authorization"]
    assert TOKEN not in str(request.url)
    assert TOKEN.encode() not in request.content
    assert TOKEN not in repr(client_wire) + repr(vars(client_wire))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://x",
        "http://",
        "https://u:p@x",
        "https://x/?a=1",
        "https://x#y",
        "http://x:99999",
        None,
        7,
    ],
)
def test_addresses_that_are_none(url: Any) -> None:
    with pytest.raises(Refused) as caught:
        Wire(url, TOKEN)
    assert caught.value.code == "client.url"


def test_plain_http_is_for_this_computer() -> None:
    for fine in (
        "http://localhost:1",
        "http://127.0.0.1",
        "http://[::1]:8000",
        "https://dp.example.org",
    ):
        Wire(fine, TOKEN).close()
    with pytest.raises(Refused) as caught:
        Wire("http://dp.example.org", TOKEN)
    assert caught.value.code == "client.url"
    Wire("http://dp.example.org", TOKEN, insecure=True).close()


class Listening:
    """Somebody on a port of this computer, who answers everything alike and remembers it."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.received: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    self.received.append(connection.recv(65536))
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
                    )

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def pair() -> Iterator[tuple[Listening, Listening]]:
    """A server, and a proxy that hears all it is sent."""
    listeners = Listening(), Listening()
    yield listeners
    for listener in listeners:
        listener.close()


PROXIES = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("insecure", [False, True], ids=["local", "insecure"])
def test_no_proxy_is_handed_a_token_to_read(
    name: str,
    host: str,
    insecure: bool,
    pair: tuple[Listening, Listening],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, proxy = pair
    for variable in (*PROXIES, "NO_PROXY", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    client_wire = Wire(
        f"HTTP://{host}:{server.port}", TOKEN, retries=0, insecure=insecure, timeout=10
    )
    assert client_wire.get("/api/me") == {}
    client_wire.close()
    assert proxy.received == []
    assert len(server.received) == 1
    assert TOKEN.encode() in server.received[0]


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
def test_through_a_proxy_https_stays_sealed(
    name: str, pair: tuple[Listening, Listening], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, proxy = pair
    for variable in (*PROXIES, "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    client_wire = Wire("https://dp.example.org", TOKEN, retries=0, timeout=10)
    with pytest.raises(Refused):  # this proxy breaks the line off
        client_wire.get("/api/me")
    client_wire.close()
    assert [message.split(b"\r\n")[0] for message in proxy.received] == [
        b"CONNECT dp.example.org:443 HTTP/1.1"
    ]
    assert TOKEN.encode() not in b"".join(proxy.received)


@pytest.mark.parametrize(
    "token", ["", "short", "with space " * 3, "line\nbreak-line", "é" * 20, None, 7]
)
def test_tokens_that_are_none(token: Any) -> None:
    with pytest.raises(Refused) as caught:
        Wire("http://localhost", token)
    assert caught.value.code == "client.token"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 0), ("1", 1), ("7", 7), ("3600", 10), ("Wed, 21 Oct", 0), ("-1", 0), ("9" * 40, 0)],
)
def test_how_long_to_wait(header: str | None, seconds: float) -> None:
    assert module._seconds(header) == seconds


def test_text_goes_as_it_is() -> None:
    client_wire, requests = wire({})
    client_wire.post("/api/x", {"sql": "città 'L''Aquila'"})
    assert json.loads(requests[0].content) == {"sql": "città 'L''Aquila'"}


def test_without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(Refused) as caught:
        Wire("http://localhost", TOKEN)
    assert caught.value.code == "client.missing"
