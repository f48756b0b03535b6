"""Check text that users type: names and keys, which the ledger looks up, and memos, reasons and
questions, which it only stores.
"""

from __future__ import annotations

from unicodedata import is_normalized, normalize

from . import ledger_refusals as refusals


def check_name(what: str, value: object) -> None:
    """Refuse a dataset name, share name or key that is not printable text in Unicode form NFC.

    Otherwise two names that look the same would be two budgets for the same people.
    """
    if not isinstance(value, str) or not value or not value.isprintable():
        raise refusals.NAME_NOT_PRINTABLE(what=what, value=value)
    if not is_normalized("NFC", value):
        raise refusals.NAME_NOT_COMPOSED(what=what, value=value, composed=normalize("NFC", value))


def check_text(what: str, value: object) -> None:
    """Refuse a memo, reason or question that is not text. It may have several lines."""
    if not isinstance(value, str) or not is_encodable(value):
        raise refusals.NOT_TEXT(what=what)
    if what == "reason" and not value:
        raise refusals.REASON_EMPTY()


def is_encodable(text: str) -> bool:
    """Whether the text can be encoded: half of a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
