"""`sfumato serve`: run the service of a configuration, or of the sample data."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .terminal import print_line

DEMO = """\
[server]
host = "{host}"
port = {port}
{postgres}ledger = "demo.ledger"
tokens = "demo.tokens"
deadlines = [1, 4, 16]

[datasets.visits]
source = "visits.parquet"
about = "Visits to shops in eight cities: 20,000 rows about 5,000 invented customers."
unit = "user_id"
budget = 10
max_rows = 8
bounds = {{ age = [16, 90], spend = [0, 100] }}
keys = {{ city = {cities} }}
deadline = 1
defaults = {{ epsilon = 0.1 }}

[datasets.visits.analysts]
ada = 6
"""
NAMES = (("olga", "owner"), ("ada", "analyst"), ("ulf", "auditor"))


def run_server(path: Path, postgres: int | None = None) -> None:
    """Serve the datasets of a configuration file; PostgreSQL clients at `postgres`, or at the port
    that the file has for them.
    """
    from ..server.config import load
    from ..server.run_service import run

    config = load(path)
    tls = config.tls_cert is not None
    addresses = [_url(config.host, config.port, tls=tls)]
    if (port := postgres or config.postgres) is not None:
        addresses.append(_postgres_url(config.host, port, tls=tls))
    shown = " and ".join(addresses)
    run(
        path,
        lambda: print_line(f"sfumato serves {', '.join(config.datasets)} at {shown}"),
        postgres=postgres,
    )


def check_server(path: Path) -> None:
    """Check a configuration without serving it, time questions on invented rows, and propose a
    deadline for each dataset.
    """
    from ..server.config import load
    from ..server.invented_rows import time_dataset
    from ..server.run_service import check_ready
    from ..server.service import CuratorService

    config = load(path)
    check_ready(config)
    service = CuratorService(config)
    try:
        print_line(f"{path.name} is right: {len(config.datasets)} dataset(s) can be served")
        for served in service.served.values():
            print_line("")
            for line in time_dataset(served, config).lines():
                print_line(line)
    finally:
        service.close()


def run_demo_server(host: str, port: int, postgres: int | None = None) -> None:
    """Serve the sample data, with tokens that are valid while the process runs."""
    from ..server.run_service import run

    with _private_umask(), tempfile.TemporaryDirectory(prefix="sfumato-demo-") as folder:
        path, tokens = prepare_demo(Path(folder), host, port, postgres)

        def announce() -> None:
            print_line(
                "sfumato serves the sample data. Open the page and enter a token. Everything is "
                "deleted when this process ends.\n"
            )
            print_line(f"  page      {_url(host, port, tls=False)}")
            if postgres is not None:
                print_line(f"  psql      {_postgres_url(host, postgres, tls=False, user='ada')}")
            for role, token in tokens.items():
                print_line(f"  {role:<9} {token}")
            print_line("")

        # the server passes the signal on when it has ended: then the folder is deleted, too
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        run(path, announce)


@contextmanager
def _private_umask() -> Iterator[None]:
    """Make every file that this process and its workers write readable by its user only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def prepare_demo(
    folder: Path, host: str, port: int, postgres: int | None = None
) -> tuple[Path, dict[str, str]]:
    """Write the sample data and a configuration into a folder, and create a token for each role."""
    import json

    import pyarrow.parquet as pq

    from ..samples.visits import CITIES, visits
    from ..server.config import load
    from ..server.request_store import RequestStore
    from ..server.tokens import create_token

    pq.write_table(visits(), folder / "visits.parquet")
    path = folder / "sfumato.toml"
    wire = "" if postgres is None else f"postgres = {postgres}\n"
    cities = json.dumps(list(CITIES))
    text = DEMO.format(host=host, port=port, postgres=wire, cities=cities)
    path.write_text(text, encoding="utf-8")
    state = RequestStore(load(path).tokens)
    try:
        return path, {
            role: create_token(state, name=name, role=role, days=1) for name, role in NAMES
        }
    finally:
        state.close()


def _url(host: str, port: int, *, tls: bool) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http{'s' if tls else ''}://{shown}:{port}/"


def _postgres_url(host: str, port: int, *, tls: bool, user: str = "") -> str:
    """Return the address for PostgreSQL clients; for a user, with the dataset of the demo."""
    shown = f"[{host}]" if ":" in host else host
    login, dataset = (f"{user}@", "visits") if user else ("", "")
    return f"postgresql://{login}{shown}:{port}/{dataset}{'?sslmode=require' if tls else ''}"
