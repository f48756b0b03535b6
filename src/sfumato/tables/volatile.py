"""Tables of a DuckDB whose cells are not stored but computed when they are read: what of them is left out, or refused.

*Why*        A unit is counted, then its rows are added up, in two looks at the table: the bound holds if both see the same. A cell that is drawn or clocked at
             every look (random(), now(), nextval) may say one thing to the one and another to the other, and no answer could be computed again.
*Generated*  A column that the table generates is left out, whatever it says: computing it may also fail on a row, which would tell about that row.
*Views*      A database's views are no tables. A connection that the owner lends may have them, as reading a file through Ibis makes one: such a view is read
             unless it, or a view or macro that it names, calls a function whose value may change.
"""

from __future__ import annotations

import re
from typing import Any

_GENERATED = re.compile(r"generated\s+always\s+as", re.IGNORECASE)
_CALL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)"?\s*\(')
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLOCK = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})
"""Clocks that are written without parentheses."""
_SAMPLE = re.compile(r"using\s+sample|tablesample", re.IGNORECASE)

REASON = "its values are computed whenever it is read, perhaps others each time: only what is stored is read"


def generated(connection: Any, database: str, schema: str, table: str) -> dict[str, str]:
    """The columns of a table that are generated, and why they are left out. Beside a generated column, one with a default counts as one, too: the catalogue
    does not tell the two apart."""
    where, place = "WHERE database_name = ? AND schema_name = ? AND table_name = ?", [database, schema, table]
    found = connection.execute(f"SELECT sql FROM duckdb_tables() {where}", place).fetchall()
    if not any(_GENERATED.search(text or "") for (text,) in found):
        return {}
    columns = connection.execute(f"SELECT column_name FROM duckdb_columns() {where} AND column_default IS NOT NULL", place).fetchall()
    return {name: REASON for (name,) in columns}


def drawn(connection: Any, view: str) -> str | None:
    """A function whose value may change, called by a view or by something that it names; None where there is none, or no such view."""
    views = {name.lower(): text for name, text in connection.execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall()}
    functions = connection.execute("SELECT function_name, stability, macro_definition, internal FROM duckdb_functions()").fetchall()
    defined = views | {name.lower(): text for name, _, text, internal in functions if text and not internal}
    changing = {name.lower() for name, stability, _, _ in functions if stability not in (None, "CONSISTENT")}
    ahead, seen = [view.lower()] if view.lower() in views else [], set[str]()
    while ahead:
        text = defined[ahead.pop()] or ""
        words = {word.lower() for word in _WORD.findall(text)}
        called = ({name.lower() for name in _CALL.findall(text)} & changing) | (words & _CLOCK) | ({"a sample"} if _SAMPLE.search(text) else set())
        if called:
            return min(called)
        ahead += [name for name in words & set(defined) if name not in seen]
        seen |= words
    return None
