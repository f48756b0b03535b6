"""Tables of small and capital letters as in DuckDB: letter by letter, by Unicode, without a
language. For engines whose own functions depend on a collation.

*Ones*   A letter has one small and one capital form, even where orthography has more: ß becomes ẞ
         and not SS, ᾳ becomes ᾼ.
"""

from __future__ import annotations

from functools import cache


@cache
def small_letters() -> tuple[str, str]:
    """Return all letters with a small form, and those forms."""
    return _pairs({letter: letter.lower()[0] for letter in _all() if letter.lower() != letter})


@cache
def capital_letters() -> tuple[str, str]:
    """Return all letters with a capital form, and those forms."""
    forms = {letter: _capital(letter) for letter in _all() if letter.upper() != letter}
    return _pairs({letter: form for letter, form in forms.items() if form != letter})


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    upper, title = letter.upper(), letter.title()
    return upper if len(upper) == 1 else title if len(title) == 1 else letter


def _all() -> map[str]:
    return map(chr, (*range(1, 0xD800), *range(0xE000, 0x20000)))


def _pairs(table: dict[str, str]) -> tuple[str, str]:
    return "".join(table), "".join(table.values())
