"""LIKE for Java, in time that does not grow with the number of `%`.

*Why*      Java matches a `%` by trying every place, one inside the other: with four of them a text of a thousand letters takes minutes.
*How*      What stands between two `%` is taken where it is found first, and no other place is tried: that leaves the longest rest, so what can be matched is.
*Letters*  A `_` is one code point. There is no escape: a backslash is itself.
"""

from __future__ import annotations

from itertools import groupby


def java(pattern: str) -> str:
    """A regular expression that finds what a pattern matches."""
    first, *rest = _once(pattern).split("%")
    if not rest:
        return rf"(?s)\A{_letters(first)}\z"
    *middle, last = rest
    inner = "".join(f"(?>.*?{_letters(part)})" for part in middle)
    return rf"(?s)\A{_letters(first)}{inner}" + (rf".*{_letters(last)}\z" if last else "")


def _once(pattern: str) -> str:
    """Several % in a row are one."""
    return "".join("%" if letter == "%" else "".join(same) for letter, same in groupby(pattern))


def _letters(part: str) -> str:
    return "".join("." if letter == "_" else letter if letter.isascii() and letter.isalnum() else rf"\x{{{ord(letter):x}}}" for letter in part)
