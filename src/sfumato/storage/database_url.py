"""The address of a database on a server. It may hold a password and names a machine: it is used
only to connect, and no text, log or record contains it.
"""

from __future__ import annotations


class Url:
    """The address of a PostgreSQL database. It is never shown."""

    __slots__ = ("_text",)
    name = "postgresql"

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Url('postgresql://…')"

    def __reduce__(self) -> str | tuple[str, ...]:
        raise TypeError("an address with a password is not written down")

    def reveal(self) -> str:
        """Return the address, for connecting."""
        return self._text
