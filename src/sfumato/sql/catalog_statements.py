"""Read DESCRIBE, SHOW TABLES and SHOW COLUMNS. They ask for what is declared, which is public: no
data is read for them, and they cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from . import sql_refusals as refusals

_NAME = r'(?P<name>[^\s"\';]+|"[^"\';]+")'
_FORMS = re.compile(
    rf"\s*(?:(?:DESCRIBE|DESC)(?:\s+TABLE)?(?:\s+{_NAME})?"
    rf"|SHOW\s+(?:ALL\s+)?TABLES|SHOW\s+COLUMNS\s+(?:FROM|IN)\s+{_NAME.replace('name', 'of')})"
    r"\s*;?\s*",
    re.IGNORECASE,
)


def described_table(text: object) -> str | None:
    """Return the table that a text asks to describe, "" for all tables. None for other texts."""
    form = _FORMS.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        return None
    return (form["name"] or form["of"] or "").strip('"')


def find_table(name: str, tables: Iterable[str], text: str) -> str:
    """Return the table of a name, in whatever case."""
    listed = list(tables)
    for table in listed:
        if table.lower() == name.lower():
            return table
    near = get_close_matches(name, listed, n=1, cutoff=0)[0]
    shown = " ".join(text.split())
    raise refusals.DESCRIBED_TABLE(text=shown, tables=", ".join(listed), near=near)
