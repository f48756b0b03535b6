"""`sfumato serve`: the curator as a service, of a configuration, or of the sample data."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .terminal import say

DEMO = """\
[server]
host = "{host}"
port = {port}
ledger = "demo.ledger"
tokens = "demo.tokens"
deadlines = [0.25, 1, 4, 16]

[datasets.visits]
source = "visits.parquet"
about = "Visits to shops in eight cities: 20,000 rows about 5,000 invented customers."
unit = "user_id"
budget = 10
max_rows = 8
bounds = {{ age = [16, 90], spend = [0, 100] }}
keys = {{ city = {cities} }}
deadline = 1

[datasets.visits.analysts]
ada = 6
"""
NAMES = (("olga", "owner"), ("ada", "analyst"), ("ulf", "auditor"))


def tell(path: Path) -> None:
    """Serve what a file declares."""
    from ..server.config import load
    from ..server.run_service import ready, run

    config = load(path)
    ready(config)
    say(
        f"sfumato serves {', '.join(config.datasets)} at "
        f"{_url(config.host, config.port, tls=config.tls_cert is not None)}"
    )
    run(path)


def demo(host: str, port: int) -> None:
    """Serve the sample data, with tokens that end with it."""
    from ..server.run_service import run

    with _unread_by_others(), tempfile.TemporaryDirectory(prefix="sfumato-demo-") as folder:
        path, tokens = prepared(Path(folder), host, port)
        say(
            "The sample data behind the wall. Open the page and give it a token; all of "
            "it ends with this process.\n"
        )
        say(f"  page      {_url(host, port, tls=False)}")
        for role, token in tokens.items():
            say(f"  {role:<9} {token}")
        say("")
        signal.signal(
            signal.SIGTERM, lambda *_: sys.exit(0)
        )  # the server passes the signal on when it has ended: the folder goes, too
        run(path)


@contextmanager
def _unread_by_others() -> Iterator[None]:
    """Whatever is written meanwhile, by this process and its workers, is for its user alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def prepared(folder: Path, host: str, port: int) -> tuple[Path, dict[str, str]]:
    """The sample data, a configuration and a token for each role, in a folder."""
    import json

    import pyarrow.parquet as pq

    from ..samples.visits import CITIES, visits
    from ..server.config import load
    from ..server.request_store import State
    from ..server.tokens import made

    pq.write_table(visits(), folder / "visits.parquet")
    path = folder / "sfumato.toml"
    path.write_text(
        DEMO.format(host=host, port=port, cities=json.dumps(list(CITIES))), encoding="utf-8"
    )
    state = State(load(path).tokens)
    try:
        return path, {role: made(state, name=name, role=role, days=1) for name, role in NAMES}
    finally:
        state.close()


def _url(host: str, port: int, *, tls: bool) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http{'s' if tls else ''}://{shown}:{port}/"
