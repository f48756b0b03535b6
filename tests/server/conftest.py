"""One service for the tests that ask over a socket. It logs all that it can, and when all of them are done nothing that it wrote may hold a canary."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .scanning import hits, kept
from .service import Running, running


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), debug=True) as found:
        yield found
    written = kept(found)
    assert {"curator.ledger", "tokens.db", "server.log"} <= set(written)
    assert hits(written.values()) == []
