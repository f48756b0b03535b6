"""What modules share. A service for those that ask over a socket: it logs all that it can, and when
all are done nothing that it wrote may hold a canary.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..ledger.servers import PostgresServer
from ..ledger.servers import running as postgres
from .scanning import hits, kept
from .service import Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One PostgreSQL for the tests of what is kept there: each has databases of its own."""
    with postgres() as found:
        yield found


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), debug=True) as found:
        yield found
    written = kept(found)
    assert {"curator.ledger", "tokens.db", "server.log"} <= set(written)
    assert hits(written.values()) == []
