"""How large the parts of a question may be, counted by its words before anything is parsed or
planned.

The limit on processor time (`plan_seconds`) holds for every question. These limits come first: a
question of 10,000 characters is counted in some milliseconds, and the refusal names the part that
is too large.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ..errors import Refused

MOST_COLUMNS = 100
MOST_SELECTS = 32
MOST_BRANCHES = 200
MOST_LISTED = 1000
MOST_LEVELS = 64
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
# of which a list in brackets is one of edges; that of other functions has quantiles
_EDGES = "histogram"


class Part(NamedTuple):
    """What is counted, how many there may be, and what to do where there are more."""

    what: str
    most: int
    rewrite: str


PARTS = {
    "columns": Part(
        "columns, keys and tables separated by commas", MOST_COLUMNS, "several questions"
    ),
    "selects": Part("SELECTs", MOST_SELECTS, "fewer sub-queries and WITH parts"),
    "branches": Part(
        "WHEN branches", MOST_BRANCHES, "fewer branches, or BETWEEN and IN in their conditions"
    ),
    "listed": Part(
        "values in one list",
        MOST_LISTED,
        "a shorter list, or a condition such as x BETWEEN 1 AND 2000",
    ),
    "levels": Part("quantiles in one list", MOST_LEVELS, "a shorter list of quantiles"),
}


def check(sql: str) -> None:
    """Refuse a question with too many parts of a kind. What cannot be read as words is refused
    later, with its place.
    """
    try:
        words = DuckDB().tokenize(sql)
    except SqlglotError:
        return
    for name, number in count(words).items():
        part = PARTS[name]
        if number > part.most:
            raise Refused(
                "server.complex",
                f"{number} {part.what}",
                f"a question has at most {part.most} of them here",
                part.rewrite,
            )


def count(words: list[Token]) -> Counter[str]:
    """How many parts of each kind there are: of lists, the longest. One pass."""
    found: Counter[str] = Counter()
    open_ = [_List("", "columns")]
    for before, word in zip([None, *words], words, strict=False):
        kind = word.token_type
        if kind == TokenType.SELECT:
            found["selects"] += 1
        elif kind == TokenType.WHEN:
            found["branches"] += 1
        elif kind == TokenType.COMMA:
            open_[-1].commas += 1
        elif kind in _OPEN:
            call = open_[-1].function
            levels = kind == TokenType.L_BRACKET and call not in ("", _EDGES)
            open_.append(
                _List(
                    "" if before is None else before.text.lower(), "levels" if levels else "listed"
                )
            )
        elif kind in _CLOSE and len(open_) > 1:
            _longest(found, open_.pop())
    for one in open_:
        _longest(found, one)
    return found


@dataclass(slots=True)
class _List:
    """A bracket that is open: the word before it, what is counted in it, and its commas so far."""

    function: str
    part: str
    commas: int = 0


def _longest(found: Counter[str], one: _List) -> None:
    found[one.part] = max(found[one.part], one.commas + 1)
