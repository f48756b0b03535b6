"""Texts that somebody typed: names and keys, which have to be found again, and memos, reasons and
questions, which are only kept.
"""

from __future__ import annotations

from unicodedata import is_normalized, normalize

from ..errors import Refused


def named(what: str, value: object) -> None:
    """Names of datasets and shares, and keys: text that can be stored and printed as it is, in the
    one form in which Unicode composes it.

    Two names that look the same would be two budgets for the same people.
    """
    if not isinstance(value, str) or not value or not value.isprintable():
        raise Refused(
            "ledger.name",
            f"{what}={value!r:.60}",
            f"a {what} is printable text",
            f"{what}='visits-2026'",
        )
    if not is_normalized("NFC", value):
        reason = (
            "letters and their accents are written apart, as two characters: it would not be "
            "found under the name that looks the same"
        )
        raise Refused(
            "ledger.name",
            f"{what}={value!a:.60}",
            reason,
            f"{what}={normalize('NFC', value)!r:.60}",
        )


def told(what: str, value: object) -> None:
    """Memos, reasons and questions: any text, of several lines if need be."""
    if not isinstance(value, str) or (what == "reason" and not value) or not encodable(value):
        raise Refused(
            "ledger.text",
            f"{what}=…",
            f"a {what} is text, for whoever reads the book",
            f"{what}='why'",
        )


def encodable(text: str) -> bool:
    """Whether it can be written down: half of a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
