"""LIKE in time that grows no faster than the text and the pattern: one pass over the text, whatever
it holds.

*Java*     matches a `%` by trying every place, one inside the other: with four of them a text of a
           thousand letters takes minutes. Here, what stands between two `%` is taken where it is
           found first, and no other place is tried: that leaves the longest rest, so what can be
           matched is.
*DuckDB*   does the same where a pattern has `%` and `_`: `'%a_%b'` takes half a second for 16,000
           letters. Its regular expressions are those of RE2, which never tries a place twice.
           `regexp_full_match` is left as it is by the optimizer, which makes a LIKE of
           `regexp_matches`.
*Letters*  A `_` is one code point. There is no escape: a backslash is itself.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any

from . import case_tables


def java(pattern: str) -> str:
    """A regular expression that finds what a pattern matches."""
    first, *rest = _once(pattern).split("%")
    if not rest:
        return rf"(?s)\A{_letters(first)}\z"
    *middle, last = rest
    inner = "".join(f"(?>.*?{_letters(part)})" for part in middle)
    return rf"(?s)\A{_letters(first)}{inner}" + (rf".*{_letters(last)}\z" if last else "")


def re2(pattern: str) -> str:
    """A regular expression that matches the whole of what a pattern matches."""
    return "(?s)" + ".*".join(_letters(part) for part in _once(pattern).split("%"))


def constant(pattern: Any) -> str | None:
    """The pattern of an Ibis operation, in small letters where it is to be."""
    if type(pattern).__name__ == "Lowercase":
        inner = constant(pattern.arg)
        return None if inner is None else inner.translate(_small())
    value = getattr(pattern, "value", None)
    return value if isinstance(value, str) else None


@cache
def _small() -> dict[int, int]:
    return str.maketrans(*case_tables.small())


def _once(pattern: str) -> str:
    """Several % in a row are one."""
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
