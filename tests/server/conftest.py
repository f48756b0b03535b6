"""What modules share. A service for those that ask over a socket: it logs all that it can, and when
all are done nothing that it wrote may hold a canary.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..ledger.servers import PostgresServer
from ..ledger.servers import running as postgres
from .scanning import hits, read_written_files
from .service import Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """Start one PostgreSQL server for all tests; each test creates its own databases there."""
    with postgres() as postgres_server:
        yield postgres_server


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), debug=True) as running_service:
        yield running_service
    written = read_written_files(running_service)
    assert {"curator.ledger", "tokens.db", "server.log"} <= set(written)
    assert hits(written.values()) == []
