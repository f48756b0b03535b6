"""Limits on the size of a query, counted from its tokens before it is parsed or planned.

The limit on processor time (`plan_seconds`) holds for every query. These limits come first:
counting a query of 10,000 characters takes a few milliseconds, and the refusal names the part that
is too large.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ..errors import RefusalText
from . import server_refusals as refusals

MOST_COLUMNS = 100
MOST_SELECTS = 32
MOST_BRANCHES = 200
MOST_LISTED = 1000
MOST_LEVELS = 64
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
# its list in brackets has edges; lists of other functions have quantiles
_EDGES = ("histogram", "cumulative")


class Part(NamedTuple):
    """The limit on a counted part of a query, and the refusal of a query beyond it."""

    most: int
    refusal: RefusalText


PARTS = {
    "columns": Part(MOST_COLUMNS, refusals.TOO_MANY_COLUMNS),
    "selects": Part(MOST_SELECTS, refusals.TOO_MANY_SELECTS),
    "branches": Part(MOST_BRANCHES, refusals.TOO_MANY_BRANCHES),
    "listed": Part(MOST_LISTED, refusals.LIST_TOO_LONG),
    "levels": Part(MOST_LEVELS, refusals.TOO_MANY_QUANTILES),
}


def check(sql: str) -> None:
    """Refuse a query with too many parts of a kind. The parser later refuses what has no tokens,
    with its place.
    """
    try:
        words = DuckDB().tokenize(sql)
    except SqlglotError:
        return
    for name, number in count(words).items():
        part = PARTS[name]
        if number > part.most:
            raise part.refusal(count=number, most=part.most)


def count(words: list[Token]) -> Counter[str]:
    """Count the parts of each kind in one pass; of lists, the longest."""
    counts: Counter[str] = Counter()
    open_ = [_List("", "columns")]
    for before, word in zip([None, *words], words, strict=False):
        kind = word.token_type
        if kind == TokenType.SELECT:
            counts["selects"] += 1
        elif kind == TokenType.WHEN:
            counts["branches"] += 1
        elif kind == TokenType.COMMA:
            open_[-1].commas += 1
        elif kind in _OPEN:
            call = open_[-1].function
            levels = kind == TokenType.L_BRACKET and call not in ("", *_EDGES)
            open_.append(
                _List(
                    "" if before is None else before.text.lower(), "levels" if levels else "listed"
                )
            )
        elif kind in _CLOSE and len(open_) > 1:
            _record_longest(counts, open_.pop())
    for bracket in open_:
        _record_longest(counts, bracket)
    return counts


@dataclass(slots=True)
class _List:
    """An open bracket: the word before it, the part counted in it, and its commas so far."""

    function: str
    part: str
    commas: int = 0


def _record_longest(counts: Counter[str], bracket: _List) -> None:
    counts[bracket.part] = max(counts[bracket.part], bracket.commas + 1)
