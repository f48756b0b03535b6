"""Malformed messages: no crash, no data, no charge; and the service is the same afterwards."""

from __future__ import annotations

import re
import socket

import psycopg
import pytest

from ..scanning import hits
from ..service import Running
from .clients import connect
from .test_wire_session import charges
from .wire_mangling import WireMangler, everything, log_in

BATCH = 20
SQLSTATE = re.compile(rb"\0C([0-9A-Z]{5})\0")


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_malformed_messages(wire: Running, count: int) -> None:
    mangler, token = WireMangler(count), wire.deployment.tokens["bob"]
    before, states = charges(wire), set[bytes]()
    for number in range(count // BATCH):
        if number % 10 == 0:
            link = socket.create_connection(("127.0.0.1", wire.postgres), timeout=60)
            sent = mangler.startup() + mangler.messages(BATCH - 2)
        else:
            link = log_in(wire.postgres, "bob", token)
            sent = mangler.messages(BATCH)
        received = everything(link, sent)
        assert hits([received]) == []
        states.update(SQLSTATE.findall(received))
    assert wire.process.poll() is None
    assert b"XX000" not in states, "something broke that no refusal names"
    assert {b"08P01", b"22023", b"0A000"} <= states
    assert charges(wire) == before
    with connect(wire, "bob") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.Error, match=r"\[postgres.amount\]"):
            connection.execute("SELECT COUNT(*) AS n FROM visits")
