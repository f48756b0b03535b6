"""A service for these tests: two datasets full of canaries, a token for everybody, and a process
that serves them over a socket.
"""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sfumato.server.config import Config, load
from sfumato.server.request_store import RequestStore, TokenRow
from sfumato.server.tokens import DAY, create_token

CITIES = ["Roma", "Bari", "Milano"]
CANARIES = 200  # in each table
SQL = "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city"
ROLES = ("owner", "analyst", "auditor")
PROMPT = """
from sfumato.server import releases
from sfumato.server.http import request_limits, slow_clients
slow_clients.SECONDS, request_limits.BODY_SECONDS = 4.0, 3.0
releases.reply_time, releases.storing_time = lambda _: 0.0, lambda _: None
"""
"""Slow clients are let go sooner than usual, and replies do not wait for their deadlines, which are
tested elsewhere: so tests are short, and a slow machine changes nothing.
"""
TALKATIVE = """
import logging
from sfumato.server import run_service
logging.basicConfig(level=logging.DEBUG)
usual = run_service.options
run_service.options = lambda config: {**usual(config), "log_level": "trace", "access_log": True}
"""
"""Everything that anything says goes into the log."""

TOML = """
[server]
ledger = "{ledger}"
tokens = "{tokens}"
deadlines = {deadlines}
overruns_per_analyst = 100
most_releases = 1000000000000
planning_per_minute = 1000000
waiting_per_analyst = 1000
port = {port}
{postgres}
rate = {{ token = 1000000, address = 1000000 }}

[datasets.visits]
source = "visits.parquet"
budget = {budget}
about = "visits to three cities"
unit = "user_id"
max_rows = 4
bounds = {{ age = [0, 120], spend = [0, 100] }}
keys = {{ city = ["Roma", "Bari", "Milano"] }}

[datasets.visits.analysts]
ada = 100

[datasets.clinic]
source = "clinic.parquet"
budget = {budget}
unit = "patient"
max_rows = 2
bounds = {{ stay = [0, 30] }}
"""


def canaries(table: str) -> dict[str, list[Any]]:
    """Values that are in the data and nowhere else: texts, units and amounts."""
    seed = sum(map(ord, table))
    texts = [f"Xenophon{seed:x}{i:03d}q" for i in range(CANARIES // 2)]
    units = [773_311_000_000 + 977 * (1000 * seed + i) for i in range(CANARIES // 4)]
    amounts = [61_803_398_000.0 + 13 * (1000 * seed + i) for i in range(CANARIES // 4)]
    return {"texts": texts, "units": units, "amounts": amounts}


def spoken(table: str) -> list[bytes]:
    """The canaries of a table, each as it would be seen in a text."""
    planted = canaries(table)
    return [
        str(value).encode()
        for value in (*planted["texts"], *planted["units"], *map(int, planted["amounts"]))
    ]


def write_data(folder: Path, rows: int = 400) -> None:
    """Tables of which half of the rows hold canaries."""
    day = datetime.date(2026, 1, 1)
    planted = {name: canaries(name) for name in ("visits", "clinic")}

    def every(values: list[Any], ordinary: Any) -> list[Any]:
        return [values[i // 2 % len(values)] if i % 2 else ordinary(i) for i in range(rows)]

    visits = {
        "user_id": every(planted["visits"]["units"], lambda i: i),
        "city": [CITIES[i % 3] for i in range(rows)],
        "age": [20 + i % 60 for i in range(rows)],
        "spend": every(planted["visits"]["amounts"], lambda i: float(i % 90)),
        "day": [day + datetime.timedelta(days=i % 100) for i in range(rows)],
        "note": every(planted["visits"]["texts"], lambda i: "seen"),
    }
    clinic = {
        "patient": every(planted["clinic"]["units"], lambda i: i),
        "ward": every(planted["clinic"]["texts"], lambda i: "north"),
        "stay": every(planted["clinic"]["amounts"], lambda i: float(i % 20)),
    }
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    pq.write_table(pa.table(clinic), folder / "clinic.parquet")


@dataclass(frozen=True)
class Deployment:
    """A service that is declared, with its tokens by the names of those who hold them."""

    path: Path
    config: Config
    tokens: dict[str, str]

    def header(self, who: str | None) -> dict[str, str]:
        return {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}


def service(
    folder: Path,
    *,
    port: int = 0,
    deadline: str = "[16]",
    budget: str = "1000000",
    place: str | None = None,
    postgres: int | None = None,
    more: str = "",
) -> Deployment:
    """Data, configuration and tokens. `owner`, `ada` and `bob` (analysts) and `auditor` see visits
    alone; the same with `clinic-` in front, the clinic; `boss` sees all; `revoked` and `expired`
    were analysts. The ledger and the records are files, or in a database. `postgres` is a port for
    PostgreSQL clients, `more` are further lines of [server].
    """
    write_data(folder)
    path = folder / "sfumato.toml"
    places = {"ledger": place or "curator.ledger", "tokens": place or "tokens.db"}
    more = more if "connections" in more else f"{more}\nconnections_per_address = 1000"
    wire = f"{more}\n" + ("" if postgres is None else f"postgres = {postgres}")
    text = TOML.format(port=port, postgres=wire, deadlines=deadline, budget=budget, **places)
    path.write_text(text, encoding="utf-8")
    config = load(path)
    state = RequestStore(config.tokens)
    try:
        with state._writing() as run:
            for _, row, verifier in people().values():
                run("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))
                run("INSERT INTO scram VALUES (?, ?)", (row.id, verifier))
        state.revoke(people()["revoked"][1].id)
    finally:
        state.close()
    tokens = {who: token for who, (token, _, _) in people().items()}
    return Deployment(path, config, tokens)


class Rows(RequestStore):
    """A request store that collects new tokens in memory and writes no file."""

    def __init__(self) -> None:
        self.rows: list[TokenRow] = []
        self.keys: dict[str, str] = {}

    def add_token(self, row: TokenRow, verifier: str) -> None:
        self.rows.append(row)
        self.keys[row.id] = verifier


@cache
def people() -> dict[str, tuple[str, TokenRow, str]]:
    """Create the tokens, by the names of those who hold them, with the row and the verifier that
    the store has of each. They are created once, because argon2 is slow; all services of these
    tests share them.
    """
    records, tokens = Rows(), dict[str, str]()
    for dataset, prefix in (("visits", ""), ("clinic", "clinic-")):
        for role in ROLES:
            who = f"{prefix}{'ada' if role == 'analyst' else role}"
            tokens[who] = create_token(records, name=who, role=role, datasets=[dataset])
    tokens["boss"] = create_token(records, name="boss", role="owner")
    for who in ("bob", "revoked", "expired"):
        tokens[who] = create_token(records, name=who, role="analyst", datasets=["visits"])
    stored = {
        who: (token, row, records.keys[row.id])
        for (who, token), row in zip(tokens.items(), records.rows, strict=True)
    }
    token, row, verifier = stored["expired"]
    return {**stored, "expired": (token, row._replace(expires=int(time.time()) - DAY), verifier)}


def certificate(folder: Path, name: str, passphrase: bytes | None = None) -> None:
    """A certificate for this host that nobody else has signed, and its key."""
    key, subject = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sfumato")]),
    )
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    about = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
    )
    about = (
        about.not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(names, critical=False)
    )
    signed = about.add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    ).sign(key, hashes.SHA256())
    hidden = (
        serialization.NoEncryption()
        if passphrase is None
        else serialization.BestAvailableEncryption(passphrase)
    )
    (folder / f"{name}.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Running:
    """A process that serves."""

    deployment: Deployment
    process: subprocess.Popen[bytes]
    port: int
    log: Path
    http: httpx.Client
    postgres: int = 0

    @property
    def url(self) -> str:
        scheme = "http" if self.deployment.config.tls_cert is None else "https"
        return f"{scheme}://127.0.0.1:{self.port}"


@contextmanager
def running(
    folder: Path, *, debug: bool = False, verify: ssl.SSLContext | None = None, **how: Any
) -> Iterator[Running]:
    """A service in a process of its own, with its log in a file. `verify` trusts its key."""
    port = free_port()
    deployment = service(folder, port=port, **how)
    log = folder / "server.log"
    script = (
        f"{PROMPT}{TALKATIVE if debug else ''}from sfumato.server.run_service import run\n"
        f"run({str(deployment.path)!r})"
    )
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=sink, stderr=subprocess.STDOUT
        )
        try:
            with httpx.Client(timeout=60, verify=True if verify is None else verify) as http:
                wire = deployment.config.postgres or 0
                running_service = Running(deployment, process, port, log, http, wire)
                _wait(running_service)
                yield running_service
        finally:
            process.terminate()
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(running_service: Running) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if (
                running_service.http.get(f"{running_service.url}/api/health", timeout=5).status_code
                == 200
            ):
                return
        except httpx.TransportError:
            pass
        if running_service.process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(
        f"the server did not start: "
        f"{running_service.log.read_text(encoding='utf-8', errors='replace')[-3000:]}"
    )
