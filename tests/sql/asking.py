"""Short ways to ask: the query that a text becomes, and the code with which it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.sql import ParsedQuery, read


def parse(table: Table, text: str, parameters: Any = None) -> ParsedQuery:
    return read(text, table.rows, parameters)


def lines(table: Table, text: str, parameters: Any = None) -> list[str]:
    """The query's text, without its first line."""
    return parse(table, text, parameters).query.text.splitlines()[1:]


def refused(table: Table, text: str, parameters: Any = None) -> Refused:
    with pytest.raises(Refused) as caught:
        read(text, table.rows, parameters)
    return caught.value


def under(refusal: Refused) -> str:
    """What is marked."""
    line, mark = refusal.place.split("\n")
    start = mark.index("^")
    return line[start : start + mark.count("^")]
