"""Check text that users type: names and keys, which the ledger looks up, and memos, reasons and
questions, which it only stores.
"""

from __future__ import annotations

from unicodedata import is_normalized, normalize

from ..errors import Refused


def check_name(what: str, value: object) -> None:
    """Refuse a dataset name, share name or key that is not printable text in Unicode form NFC.

    Otherwise two names that look the same would be two budgets for the same people.
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
            "letters and accents are separate characters: the ledger would not find it under "
            "the name that looks the same"
        )
        raise Refused(
            "ledger.name",
            f"{what}={value!a:.60}",
            reason,
            f"{what}={normalize('NFC', value)!r:.60}",
        )


def check_text(what: str, value: object) -> None:
    """Refuse a memo, reason or question that is not text. It may have several lines."""
    if not isinstance(value, str) or (what == "reason" and not value) or not is_encodable(value):
        raise Refused(
            "ledger.text",
            f"{what}=…",
            f"a {what} is text, for readers of the ledger",
            f"{what}='why'",
        )


def is_encodable(text: str) -> bool:
    """Whether the text can be encoded: half of a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
