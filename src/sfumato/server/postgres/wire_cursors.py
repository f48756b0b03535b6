"""Cursors of SQL: DECLARE runs a statement and keeps its rows, FETCH gives the next ones.

They are portals with a name, as in PostgreSQL: a driver describes them as such.
"""

from __future__ import annotations

import re

from . import wire_refusals as refusals
from .portals import Portal, SessionNames
from .wire_results import WireResult
from .wire_statements import WireStatement, split

_NAME = r'("(?:[^"]|"")+"|[A-Za-z_]\w*)'
_DECLARE = re.compile(
    rf"declare\s+{_NAME}\s+(?:(?:binary|insensitive|asensitive|no\s+scroll|scroll)\s+)*cursor\s+"
    r"(?:with(?:out)?\s+hold\s+)?for\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_FETCH = re.compile(
    rf"(fetch|move)\s+(?:(?:forward|next)\s*)?(all|[0-9]{{1,9}})?\s*(?:(?:from|in)\s+)?{_NAME}\s*",
    re.IGNORECASE,
)


def declared(statement: WireStatement) -> tuple[str, WireStatement]:
    """Return the name of a cursor and the statement that it is for."""
    form = _DECLARE.fullmatch(statement.text.strip())
    if form is None:
        raise refusals.COMMAND_WRONG(
            verb="DECLARE", form="DECLARE c CURSOR FOR SELECT COUNT(*) AS n FROM visits"
        )
    inner = split(form[2])[0]
    return _plain(form[1]), WireStatement(inner.text, inner.words, statement.hints)


def cursor_of(statement: WireStatement, names: SessionNames) -> Portal:
    """Return the cursor of a FETCH or MOVE."""
    return names.portal(_plain(_fetched(statement)[3]))


def fetch(statement: WireStatement, names: SessionNames) -> WireResult:
    """Return the next rows of a cursor; MOVE passes over them."""
    form, cursor = _fetched(statement), cursor_of(statement, names)
    rows = cursor.result.rows if cursor.result is not None else ()
    count = len(rows) if (form[2] or "1").lower() == "all" else int(form[2] or 1)
    part = rows[cursor.sent : cursor.sent + count]
    cursor.sent += len(part)
    if form[1].lower() == "move":
        return WireResult(tag=f"MOVE {len(part)}")
    return WireResult(tag="FETCH", columns=cursor.columns, rows=part)


def _fetched(statement: WireStatement) -> re.Match[str]:
    form = _FETCH.fullmatch(statement.text.strip())
    if form is None:
        raise refusals.COMMAND_WRONG(verb="FETCH", form="FETCH FORWARD 100 FROM c")
    return form


def _plain(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()
