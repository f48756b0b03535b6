"""The location of a book: a file, a PostgreSQL server, or memory.

A URL may hold a password and names a machine. The ledger uses it only to connect; no text, log or
record contains it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...storage.database_url import Url
from .. import ledger_refusals as refusals
from .book_store import BookStore

if TYPE_CHECKING:
    from .postgres_book import PostgresBook

MEMORY = ":memory:"
SCHEMES = ("postgresql", "postgres")
# two letters at least: one letter is a drive. `Path` drops the second slash
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/", re.ASCII)


def parse_location(path: str | Path | None) -> Path | Url | None:
    """Parse a path or URL; None, and SQLite's word for it, is memory."""
    if path == MEMORY:  # the word; a `Path` of that name is a file
        return None
    scheme = None if path is None else _URL.match(str(path))
    if scheme is None:
        return None if path is None else Path(path).absolute()
    if (
        scheme[1].lower() not in SCHEMES
        or not isinstance(path, str)
        or not path[scheme.end() :].startswith("/")
    ):
        raise refusals.NOT_A_POSTGRES_URL()
    return Url(path)


def public_name(path: str | Path) -> str:
    """Return a name to show for a location: of a file without its folder, of a server only that it
    is one.
    """
    location = parse_location(path)
    return location.name if isinstance(location, Url) else Path(path).name


def open_store(location: Path | Url | None, *, begin: bool) -> BookStore:
    """Open the storage for writing. `begin` allows a new book on a server."""
    return open_server(location, begin=begin) if isinstance(location, Url) else BookStore(location)


def open_server(url: Url, *, begin: bool = False) -> PostgresBook:
    try:
        from .postgres_book import PostgresBook
    except ImportError:
        raise refusals.PSYCOPG_MISSING() from None
    return PostgresBook(url, begin=begin)
