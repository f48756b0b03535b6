"""A server and a token, and the datasets that they open."""

from __future__ import annotations

import sys
from typing import Any

import httpx
import pytest

import sfumato as sf
from sfumato.client import connection
from sfumato.client.connection import Connection, connect
from sfumato.client.transport import Wire
from sfumato.errors import Refused

from ..sql.people import protected
from .behind import TOKEN, Paper, behind


def test_by_name() -> None:
    with behind() as (there, _):
        assert there.datasets == ("visits",)
        assert list(there) == ["visits"]
        assert len(there) == 1
        assert there.me["role"] == "analyst"
        assert there["visits"].declaration.unit == ("user_id",)
        assert repr(there) == "<sfumato at http://127.0.0.1:9: ada, analyst · datasets visits>"


@pytest.mark.parametrize("name", ["clinic", "", 7, "../me"])
def test_a_dataset_that_is_not_there(name: object) -> None:
    with behind() as (there, _), pytest.raises(Refused) as caught:
        there[name]  # type: ignore[index]  # wrong on purpose
    assert caught.value.code == "client.dataset"


def test_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    with protected() as table:
        wire_options: list[dict[str, object]] = []

        def wire(url: str, token: str, **how: object) -> Wire:
            wire_options.append(how)
            options: Any = how
            return Wire(url, token, transport=httpx.MockTransport(Paper(table)), **options)

        monkeypatch.setattr(connection, "Wire", wire)
        assert sf.connect is connect
        assert isinstance(connect("http://localhost:1", TOKEN), Connection)
        with connect(
            "http://localhost:1", TOKEN, dataset="visits", timeout=3, retries=1, insecure=True
        ) as visits:
            assert visits.name == "visits"
        assert wire_options[1] == {"timeout": 3, "retries": 1, "insecure": True}


@pytest.mark.parametrize("reply", [[], {"name": "x"}, "hello"])
def test_another_service(reply: object) -> None:
    wire = Wire(
        "http://localhost:1",
        TOKEN,
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=reply)),
    )
    with pytest.raises(Refused) as caught:
        Connection(wire)
    assert caught.value.code == "client.reply"
    assert wire._http.is_closed


def test_a_declaration_of_another_kind() -> None:
    def strange(_: Paper, request: httpx.Request) -> httpx.Response | None:
        return (
            httpx.Response(200, json={"tables": [{}]})
            if request.url.path == "/api/datasets/visits"
            else None
        )

    with behind(strange) as (there, _):
        with pytest.raises(Refused) as caught:
            there["visits"]
        assert caught.value.code == "client.reply"


def test_without_the_reader_of_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    with behind() as (there, _):
        monkeypatch.setitem(sys.modules, "sfumato.client.remote_table", None)
        with pytest.raises(Refused) as caught:
            there["visits"]
    assert caught.value.code == "client.missing"


def test_nobody_there() -> None:
    with pytest.raises(Refused) as caught:
        connect("http://127.0.0.1:9", TOKEN, retries=0, timeout=2)
    assert caught.value.code == "client.unreachable"
