"""Connections: startup, TLS, passwords, limits, cancellation, what a client may not do."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from sfumato.server.request_store import RequestStore
from sfumato.server.tokens import create_token

from ..service import Running, certificate, free_port, running
from .clients import connect
from .test_wire_session import charges


def startup(version: int = 3 << 16, **parameters: str) -> bytes:
    body = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items()) + b"\0"
    return struct.pack("!ii", len(body) + 8, version) + body


def talk(port: int, *messages: bytes, seconds: float = 20) -> bytes:
    """Send messages, and return all that comes until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
        for message in messages:
            link.sendall(message)
        replies = b""
        try:
            while part := link.recv(65536):
                replies += part
        except ConnectionResetError:
            pass
    return replies


@pytest.mark.parametrize("token", ["", "sft_aaaaaaaaaaaaaaaa_" + "x" * 43])
@pytest.mark.parametrize("who", ["ada", "nobody", "revoked", "expired", ""])
def test_a_wrong_password_says_nothing_more(wire: Running, who: str, token: str) -> None:
    real = wire.deployment.tokens.get(who) if who in ("revoked", "expired") else None
    with pytest.raises(psycopg.OperationalError) as caught:
        connect(wire, who or "x", token=real or token or "wrong")
    text = str(caught.value)
    assert "refused [postgres.password]  the name and its token" in text
    assert "no valid token of this name fits" in text


def test_a_token_without_a_verifier_says_how_to_go_on(wire: Running) -> None:
    state = RequestStore(wire.deployment.config.tokens)
    token = create_token(state, name="early", role="analyst")
    with state._writing() as run:
        run("DELETE FROM scram WHERE token IN (SELECT id FROM token WHERE name = 'early')", ())
    state.close()
    with pytest.raises(psycopg.OperationalError, match="made before the service spoke") as caught:
        connect(wire, "early", token=token)
    assert "sfumato token sfumato.toml --name ada" in str(caught.value)


def test_two_tokens_of_a_name_both_open(wire: Running) -> None:
    state = RequestStore(wire.deployment.config.tokens)
    tokens = [create_token(state, name="twice", role="analyst") for _ in range(2)]
    for token in tokens:
        with connect(wire, "twice", token=token) as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("twice",)
    state.close()


@pytest.mark.parametrize("database", ["clinic", "nothing", "visits "])
def test_a_dataset_of_others_does_not_exist(wire: Running, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"\[postgres.database\]"):
        connect(wire, "ada", dbname=database)


def test_a_revoked_token_ends_its_session(wire: Running) -> None:
    state = RequestStore(wire.deployment.config.tokens)
    token = create_token(state, name="leaving", role="analyst")
    with connect(wire, "leaving", token=token) as connection:
        connection.execute("SELECT 1")
        state.revoke(token.split("_")[1])
        with pytest.raises(psycopg.OperationalError, match=r"\[postgres.token\]"):
            connection.execute("SELECT 1")
        assert connection.broken
    state.close()


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (startup(2 << 16, user="ada"), b"postgres.version"),
        (startup(4 << 16, user="ada"), b"postgres.version"),
        (struct.pack("!ii", 4, 3 << 16), b"postgres.message"),
        (struct.pack("!i", 100_000), b"postgres.message"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"postgres.message"),
        (startup(user="ada") + b"Q\0\0\0\x0dselect 1\0", b"postgres.message"),
        (startup(user="ada")[:-1] + b"x", b"postgres.message"),
    ],
    ids=["old", "new", "short", "long", "http", "early", "unended"],
)
def test_a_wrong_startup_is_refused(wire: Running, message: bytes, says: bytes) -> None:
    replies = talk(wire.postgres, message)
    assert says in replies
    assert b"SFATAL" in replies


def test_later_minor_versions_and_options_are_negotiated(wire: Running) -> None:
    with socket.create_connection(("127.0.0.1", wire.postgres), timeout=10) as link:
        link.sendall(startup((3 << 16) + 2, user="ada", **{"_pq_.later": "1"}))
        replies = link.recv(1000)
    assert replies[:1] == b"v"
    assert b"_pq_.later\0" in replies
    assert b"SCRAM-SHA-256\0" in replies


def test_without_a_certificate_there_is_no_tls(wire: Running) -> None:
    request = struct.pack("!ii", 8, 80877103)
    with socket.create_connection(("127.0.0.1", wire.postgres), timeout=10) as link:
        link.sendall(request)
        assert link.recv(10) == b"N"
    with pytest.raises(psycopg.OperationalError, match="SSL"):
        connect(wire, "ada", sslmode="require")


def test_a_statement_can_be_cancelled(wire: Running) -> None:
    """The client is free at once; the charge stays, and the answer is stored."""
    sql = "SELECT COUNT(*) AS cancelled FROM visits WHERE age > %s"
    with connect(wire, "ada", options="-c sfumato.epsilon=0.5") as connection:
        before, hints = charges(wire), list[str | None]()
        for age in range(20, 40):  # a release may be over before the cancellation comes
            timer = threading.Timer(0.01, connection.cancel_safe)
            timer.start()
            try:
                connection.execute(sql, [age])
            except psycopg.errors.QueryCanceled as cancelled:
                hints.append(cancelled.diag.message_hint)
            timer.join()
            connection.execute("SELECT 1")
            if hints:
                break
        assert hints == ["send the same statement again: it is not charged twice"]
        connection.execute(sql, [age])
        assert charges(wire) == before + age - 19


def test_a_wrong_cancellation_changes_nothing(wire: Running) -> None:
    assert talk(wire.postgres, struct.pack("!iiII", 16, 80877102, 1, 2)) == b""


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("encrypted")
    certificate(folder, "server")
    context = ssl.create_default_context(cafile=str(folder / "server.crt"))
    more = 'tls_cert = "server.crt"\ntls_key = "server.key"\nconnections_per_address = 6'
    with running(folder, postgres=free_port(), more=more, verify=context) as service:
        yield service


def test_tls(encrypted: Running) -> None:
    root = str(encrypted.deployment.path.parent / "server.crt")
    with connect(encrypted, "ada", sslmode="verify-ca", sslrootcert=root) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_with_a_certificate_plain_connections_are_refused(encrypted: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"\[postgres.tls\]"):
        connect(encrypted, "ada", sslmode="disable")


def test_bytes_before_the_handshake_end_the_connection(encrypted: Running) -> None:
    """CVE-2021-23214: what a man in the middle sends ahead must not count as encrypted."""
    ahead = struct.pack("!ii", 8, 80877103) + startup(user="ada")
    assert talk(encrypted.postgres, ahead) in (b"", b"S")


def test_connections_of_an_address_are_counted(encrypted: Running) -> None:
    links = [socket.create_connection(("127.0.0.1", encrypted.postgres)) for _ in range(12)]
    try:
        time.sleep(0.5)
        refused = 0
        for link in links:
            link.setblocking(False)
            with suppress(BlockingIOError, ConnectionResetError):
                refused += b"postgres.full" in link.recv(1000)
        assert refused >= 1
    finally:
        for link in links:
            link.close()
