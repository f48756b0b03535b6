"""Translate LIKE patterns to regular expressions that match in one pass over the text, whatever it
holds.

*Java*     tries every position for a `%`, nested: with four of them a text of a thousand letters
           takes minutes. The expression here takes the first position of each part between two `%`
           and tries no other. The first position leaves the longest rest, so every match is found.
*DuckDB*   backtracks in the same way if a pattern has `%` and `_`: `'%a_%b'` takes half a second
           for 16,000 letters. Its regular expressions are those of RE2, which never tries a
           position twice. The optimizer leaves `regexp_full_match` alone; it turns `regexp_matches`
           into a LIKE.
*Letters*  A `_` is one code point. There is no escape: a backslash is itself.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from . import case_tables

if TYPE_CHECKING:
    import ibis.expr.operations as ops


def java(pattern: str) -> str:
    """Return a Java regular expression that finds the texts of a LIKE pattern."""
    first, *rest = _once(pattern).split("%")
    if not rest:
        return rf"(?s)\A{_letters(first)}\z"
    *middle, last = rest
    inner = "".join(f"(?>.*?{_letters(part)})" for part in middle)
    return rf"(?s)\A{_letters(first)}{inner}" + (rf".*{_letters(last)}\z" if last else "")


def re2(pattern: str) -> str:
    """Return an RE2 expression whose full match is that of a LIKE pattern."""
    return "(?s)" + ".*".join(_letters(part) for part in _once(pattern).split("%"))


def constant_pattern(pattern: ops.Value) -> str | None:
    """Return the constant pattern of an Ibis operation, in small letters if it asks for them."""
    if type(pattern).__name__ == "Lowercase":
        inner = constant_pattern(pattern.arg)
        return None if inner is None else inner.translate(_small())
    value = getattr(pattern, "value", None)
    return value if isinstance(value, str) else None


@cache
def _small() -> dict[int, int]:
    return str.maketrans(*case_tables.small_letters())


def _once(pattern: str) -> str:
    """Merge runs of %."""
    return "".join("%" if letter == "%" else "".join(same) for letter, same in groupby(pattern))


def _letters(part: str) -> str:
    return "".join(
        "."
        if letter == "_"
        else letter
        if letter.isascii() and letter.isalnum()
        else rf"\x{{{ord(letter):x}}}"
        for letter in part
    )
