"""Where the tests of the ledger keep their books: the same tests, in a file, in memory and on a
real server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import books
from .servers import PostgresServer, running


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One for each process of the suite; tests take databases of it."""
    with running() as started:
        yield started


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once in each place, and not in each pair of places."""
    for fixture, kinds in (("place", ["file", "server"]), ("anywhere", ["memory", "server"])):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, kinds, indirect=True)
            return


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """A place where there is no book yet."""
    if request.param == "file":
        return tmp_path / "a.ledger"
    url: str = request.getfixturevalue("server").new()
    return url


@pytest.fixture
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Books without a path are in memory, or each in a database of its own."""
    if getattr(request, "param", "memory") == "server":
        monkeypatch.setattr(books, "nowhere", request.getfixturevalue("server").new)
