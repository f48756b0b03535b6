"""Errors and notices of the wire. Each is a refusal of ours: message = code and place, DETAIL =
reason, HINT = rewrite, POSITION = the marked place in the text. None depends on data.
"""

from __future__ import annotations

import re

from ..http.problems import Problem
from .wire_messages import report

STATES = {
    "postgres.syntax": "42601",
    "postgres.statement": "0A000",
    "postgres.setting": "22023",
    "postgres.amount": "22023",
    "postgres.parameter": "22P02",
    "postgres.catalog": "42P01",
    "postgres.name": "26000",
    "postgres.password": "28P01",
    "postgres.token": "28000",
    "postgres.tls": "28000",
    "postgres.database": "3D000",
    "postgres.version": "0A000",
    "postgres.message": "08P01",
    "postgres.idle": "57P05",
    "postgres.cancelled": "57014",
    "postgres.full": "53300",
    "postgres.stopping": "57P01",
    "postgres.charge": "58000",
    "server.role": "42501",
    "server.rate": "53400",
    "server.planning": "53400",
    "server.overruns": "53400",
    "server.stored": "53400",
    "server.waiting": "53400",
    "server.busy": "53000",
    "server.running": "55006",
    "server.lost": "58000",
    "server.void": "58000",
    "server.deadline": "58000",
    "server.internal": "XX000",
    "budget.exceeded": "53400",
    "sql.column": "42703",
    "sql.table": "42P01",
    "sql.statement": "42601",
    "sql.syntax": "42601",
}
"""The SQLSTATE of a code; 0A000 (not supported) for every other refusal of a question."""
RANKS = {"debug": 0, "log": 0, "info": 2, "notice": 2, "warning": 3, "error": 4}
AGAIN = "send the same statement again, later"
_FIELD = re.compile(r'"(epsilon|within|delta)": "([^"]+)"')
_KEYWORD = re.compile(r"^(?:a smaller cost, such as )?(epsilon|within|delta)=([0-9.e/+-]+)$")
_MARK = re.compile(r"^( *)\^", re.MULTILINE)


def state_of(code: str) -> str:
    return STATES.get(code, "0A000")


def error(problem: Problem, *, query: str = "", fatal: bool = False) -> bytes:
    """Write a problem as an error; `query` is the text that the client sent."""
    severity = "FATAL" if fatal else "ERROR"
    place = problem.place
    position = position_of(place, query)
    if "\n" in place or position:  # the mark stands in POSITION, or in a text of several lines
        place = " ".join(place.partition("\n")[2].replace("^", " ").split())
    return report(
        b"E",
        {
            "S": severity,
            "V": severity,
            "C": state_of(problem.code),
            "M": f"refused [{problem.code}]  {place}".rstrip(),
            "D": problem.reason,
            "H": hint_of(problem.rewrite),
            "P": str(position) if position else "",
        },
    )


def hint_of(rewrite: str) -> str:
    """Return a rewrite in the words of this protocol: JSON fields and keywords of Python become
    settings.
    """
    fields = _FIELD.findall(rewrite) if rewrite.startswith('"') else _KEYWORD.findall(rewrite)
    if fields:
        return "; ".join(f"SET sfumato.{name} = {value}" for name, value in fields)
    return AGAIN if "Idempotency-Key" in rewrite else rewrite


def position_of(place: str, query: str) -> int | None:
    """Return the place of the mark in the query, counted from 1; None if it is not known."""
    shown, _, below = place.partition("\n")
    mark = _MARK.match(below)
    if mark is None or not shown.isascii():
        return None
    at = len(mark[1])
    for size in (60, 30, 15, 6, 3, 1):  # the shown line may be a part of the text
        word = shown[at : at + size]
        if len(word) >= min(size, 3) and query.count(word) == 1:
            return query.index(word) + 1
    start = query.find(shown)
    return start + at + 1 if start >= 0 and query.count(shown) == 1 else None


def notice(sentence: str, detail: str = "", *, severity: str = "NOTICE") -> bytes:
    code = "01000" if severity == "WARNING" else "00000"
    return report(b"N", {"S": severity, "V": severity, "C": code, "M": sentence, "D": detail})
