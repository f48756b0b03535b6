"""A service that PostgreSQL clients reach, and the clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from ..scanning import hits, read_written_files
from ..service import Running, free_port, running
from .clients import connect


@pytest.fixture(scope="session")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a service that logs all that it can; in the end its files hold no canary."""
    folder: Path = tmp_path_factory.mktemp("wire")
    with running(folder, debug=True, postgres=free_port()) as running_service:
        yield running_service
    assert hits(read_written_files(running_service).values()) == []


Connect = Callable[..., psycopg.Connection[tuple[object, ...]]]


@pytest.fixture
def ada(wire: Running) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with connect(wire, "ada", options="-c sfumato.epsilon=0.5") as connection:
        yield connection
