"""Tables of a DuckDB whose cells are not stored but computed when they are read: what of them is left out, or refused.

*Why*        A unit is counted, then its rows are added up, in two looks at the table: the bound holds if both see the same. A cell that is drawn or clocked at
             every look (random(), now(), nextval) may say one thing to the one and another to the other, and no answer could be computed again.
*Generated*  A column that the table generates is left out, whatever it says: computing it may also fail on a row, which would tell about that row.
*Views*      A database's views are no tables. A connection that the owner lends may have them, as reading a file through Ibis makes one: such a view is read
             unless it, or a view or macro that it names, calls a function whose value may change, or names a table that generates columns.
*In doubt*   A name means everything that bears it, in whatever schema; a name in the text is taken for what it may name; a view of which DuckDB knows no text
             is refused. The text is DuckDB's own: it writes it anew from the parsed statement, without comments, and with quotes about names that need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_GENERATED = re.compile(r"generated\s+always\s+as", re.IGNORECASE)
_CLOCK = ("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
"""Clocks that are written without parentheses."""
_CLAIMED = ("age", "current_localtime", "current_localtimestamp", "current_setting", "getvariable", "reservoir_quantile")
"""Functions that are said to be consistent, and look at a clock, at the connection, or at a sample. That `age` of two times does not is no matter."""
_ELSEWHERE = ("json_execute_serialized_sql", "query", "query_table", "read_duckdb")
"""Functions that read what is named by a text, or in another database: it cannot be seen here what that is."""
_SAMPLE = re.compile(r"using\s+sample|tablesample", re.IGNORECASE)

REASON = "its values are computed whenever it is read, perhaps others each time: only what is stored is read"


def generated(connection: Any, database: str | None, schema: str | None, table: str) -> dict[str, str]:
    """The columns of a table that are generated, and why they are left out. Beside a generated column, one with a default counts as one, too: the catalogue
    does not tell the two apart. Without a database or schema, the table is wherever its name may be found."""
    tables = connection.sql("SELECT database_name, schema_name, table_name, sql FROM duckdb_tables()").fetchall()
    found = {(one, two, name) for one, two, name, text in _meant(connection, tables, database, schema, table) if _GENERATED.search(text or "")}
    if not found:
        return {}
    asked = "SELECT database_name, schema_name, table_name, column_name FROM duckdb_columns() WHERE column_default IS NOT NULL ORDER BY column_index"
    return {column: REASON for *place, column in connection.sql(asked).fetchall() if tuple(place) in found}


def drawn(connection: Any, database: str | None, schema: str | None, view: str) -> str | None:
    """Why a view may show other rows at another look, of what it or something that it names calls; None where nothing does, or there is no such view."""
    listed = connection.sql("SELECT database_name, schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall()
    views = [(*place, (text or "").partition(" AS ")[2]) for *place, text in listed]  # without its own name, which another view may bear
    functions = connection.sql("SELECT function_name, stability, macro_definition, internal FROM duckdb_functions()").fetchall()
    tables = connection.sql("SELECT table_name, sql FROM duckdb_tables()").fetchall()
    changing = {name for name, stability, _, _ in functions if stability not in (None, "CONSISTENT")} | set(_CLAIMED)
    generating = {name for name, text in tables if _GENERATED.search(text or "")}
    viewed = [(name, text) for _, _, name, text in views]
    macros = [(name, text) for name, _, text, internal in functions if text and not internal]
    built_in = [(name, text) for name, _, text, internal in functions if text and internal]
    ahead, seen = [text for *_, text in _meant(connection, views, database, schema, view)], set[str]()
    while ahead:
        text = ahead.pop()
        if text in seen:
            continue
        seen.add(text)
        if not text:
            return "what it reads is not told by the catalogue, as of a frame that was registered"
        if called := _named(text, changing, call=True) | _named(text, _CLOCK) | ({"a sample"} if _SAMPLE.search(text) else set()):
            return f"it calls {min(called)}"
        if unseen := _named(text, _ELSEWHERE, call=True):
            return f"it calls {min(unseen)}, and what that reads cannot be seen"
        if names := _named(text, generating):
            return f"it names {min(names)!r:.60}, a table that generates columns"
        for these, call in ((viewed, False), (macros, False), (built_in, True)):  # columns may be called like a macro of DuckDB's own
            names = _named(text, {name for name, _ in these}, call=call)
            ahead += [inner for name, inner in these if name in names]
    return None


def _meant(connection: Any, listed: list[tuple[Any, ...]], database: str | None, schema: str | None, name: str) -> list[tuple[Any, ...]]:
    """Of things listed as database, schema, name and more, those that a name may mean: `a.b` is schema a, or database a; `b` is temporary, or on the path."""
    path = {one.casefold() for one in connection.sql("SELECT current_schemas(true)").fetchall()[0][0]}
    found = []
    for row in listed:
        here, within, called = (word.casefold() for word in row[:3])
        if database is not None:
            there = here == database.casefold() and within == (schema or "main").casefold()
        else:
            there = schema.casefold() in (here, within) if schema is not None else within in path
        if there and called == name.casefold():
            found.append(row)
    return found


def _named(text: str, names: Iterable[str], *, call: bool = False) -> set[str]:
    """Which of the names stand in a text, plainly or in quotes, whatever their letters; and before a parenthesis, if they are to be called."""
    folded, end = text.casefold(), r'"?\s*\(' if call else r"(?![\w$])"
    spelled = {name: name.casefold().replace('"', '""') for name in names}
    return {name for name, word in spelled.items() if word in folded and re.search(rf"(?<![\w$]){re.escape(word)}{end}", folded)}
