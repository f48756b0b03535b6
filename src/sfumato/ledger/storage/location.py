"""Where a book is: in a file, on a server, or in memory.

A URL may hold a password, and names a machine: it is kept to connect with, and is in no text, log
or record.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import Refused
from .sqlite_store import Store

if TYPE_CHECKING:
    from .postgres_store import Server

SCHEMES = ("postgresql", "postgres")
_URL = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]+):/", re.ASCII
)  # two letters at least: one is a drive. A path forgets the second slash


class Url:
    """The address of a book on a server, which nobody is shown."""

    __slots__ = ("_text",)
    name = "postgresql"

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Url('postgresql://…')"

    def __reduce__(self) -> str | tuple[str, ...]:
        raise TypeError("an address with a password is not written down")

    def reveal(self) -> str:
        """To connect with."""
        return self._text


def place(path: str | Path | None) -> Path | Url | None:
    """Where the book is, or is to be; None is memory."""
    scheme = None if path is None else _URL.match(str(path))
    if scheme is None:
        return None if path is None else Path(path).absolute()
    if (
        scheme[1].lower() not in SCHEMES
        or not isinstance(path, str)
        or not path[scheme.end() :].startswith("/")
    ):
        raise Refused(
            "ledger.path",
            "a URL",
            "a ledger is a file, or is on a PostgreSQL server, said as text",
            "postgresql://role@host/database",
        )
    return Url(path)


def public_name(path: str | Path) -> str:
    """What a place may be called where others read it: a file without its folder, a server not at
    all.
    """
    found = place(path)
    return found.name if isinstance(found, Url) else Path(path).name


def store_at(found: Path | Url | None, *, begin: bool) -> Store:
    """The storage at a place, to be written; `begin` says whether a book may be begun there."""
    return server(found, begin=begin) if isinstance(found, Url) else Store(found)


def server(found: Url, *, begin: bool = False) -> Server:
    try:
        from .postgres_store import Server
    except ImportError:
        reason = "a ledger on PostgreSQL is written by psycopg, which is not installed"
        raise Refused(
            "ledger.missing", "psycopg", reason, "pip install 'sfumato[postgres]'"
        ) from None
    return Server(found, begin=begin)
