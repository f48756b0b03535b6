"""Every code of the table is raised somewhere, and every one that is raised is in the table."""

from __future__ import annotations

import re
from pathlib import Path

from sfumato.sql.codes import SQL_CODES

SOURCES = [
    path
    for path in (Path(__file__).parents[2] / "src" / "sfumato" / "sql").glob("*.py")
    if path.name != "codes.py"
]


def test_the_table_is_the_list() -> None:
    used = {
        code
        for path in SOURCES
        for code in re.findall(r'"(sql\.[a-z-]+)"', path.read_text(encoding="utf-8"))
    }
    assert used == {code for code, _ in SQL_CODES}
