"""Names of a DuckDB under which two looks need not show the same rows: what of them is left out,
and what is refused.

*Why*        A unit is counted, then its rows are added up, in two looks at the table: the bound
             holds if both see the same. And another unit's rows must not depend on this unit's: a
             view that takes the first row, numbers rows or adds doubles may give other rows once
             one row is added anywhere.
*Tables*     Stored tables of DuckDB's own databases: a statement sees one state of each. A table of
             another system that is attached, a file and a frame of the program have no such state.
*Views*      A database's views are no tables. A connection that the owner lends may have them: one
             is read where DuckDB's own parser finds in it, and in the views that it names, nothing
             but columns, constants, conditions and functions of one row, joins, sub-queries of the
             same kind and UNION ALL. The list is of what is known to be safe: everything else is
             refused, also what a later DuckDB may bring.
*Generated*  A column that the table generates is left out, whatever it says: computing it may also
             fail on a row, which would tell about that row. A view that names such a table is
             refused.
*In doubt*   A name in a view means everything that bears it, in whatever schema. A view of which
             DuckDB keeps no text is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_GENERATED = re.compile(r"generated\s+always\s+as", re.IGNORECASE)
_CLOCK = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "rowid"}
)
"""What looks like a column and is none: clocks that are written without parentheses, and the place
of a row.
"""
_CLAIMED = frozenset(
    {"age", "current_localtime", "current_localtimestamp", "current_setting", "getvariable"}
)
"""Functions that are said to be consistent, and look at a clock or at the connection. That `age` of
two times does not is no matter.
"""

PLAIN: Mapping[str, tuple[Any, str]] = {
    "modifiers": ([], "orders, limits or merges rows"),
    "cte_map": ({"map": []}, "names a query by WITH"),
    "group_expressions": ([], "groups rows"),
    "group_sets": ([], "groups rows"),
    "aggregate_handling": ("STANDARD_HANDLING", "groups rows"),
    "having": (None, "groups rows"),
    "qualify": (None, "numbers rows"),
    "sample": (None, "takes a sample"),
    "at_clause": (None, "reads a former state"),
}
"""Parts of a query or of what it reads → what they are where they are absent, and what they do
otherwise.
"""

ROW_WISE = frozenset(
    {
        "BETWEEN",
        "CASE",
        "CAST",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "CONSTANT",
        "FUNCTION",
        "OPERATOR",
        "STAR",
    }
)
"""DuckDB's classes of expressions that look at one row."""
_JOINS = frozenset(
    {"REGULAR", "NATURAL", "CROSS"}
)  # an ASOF join chooses among rows, a positional one counts them

REASON = (
    "its values are computed whenever it is read, perhaps others each time: only what is "
    "stored is read"
)

Entry = tuple[str, str, str, int, str]
"""Database, schema, name, number and text of a table or view in the catalogue."""


class Unstable(Exception):
    """Why two looks at what is named need not show the same rows."""


def generated(
    connection: Any, database: str | None, schema: str | None, table: str
) -> dict[str, str]:
    """The columns of a table that are generated, and why they are left out. Beside a generated
    column, one with a default counts as one, too: the catalogue does not tell the two apart.
    Without a database or schema, the table is wherever its name may be found.
    """
    tables = connection.sql(
        "SELECT database_name, schema_name, table_name, sql FROM duckdb_tables()"
    ).fetchall()
    found = {
        (one, two, name)
        for one, two, name, text in _meant(connection, tables, database, schema, table)
        if _GENERATED.search(text or "")
    }
    if not found:
        return {}
    asked = (
        "SELECT database_name, schema_name, table_name, column_name FROM duckdb_columns() "
        "WHERE column_default IS NOT NULL ORDER BY column_index"
    )
    return {
        column: REASON
        for *place, column in connection.sql(asked).fetchall()
        if tuple(place) in found
    }


def entries(
    connection: Any, database: str | None, schema: str | None, name: str
) -> frozenset[Entry]:
    """Everything that is read under a name; Unstable is raised where two looks at it need not show
    the same rows.
    """
    return _Catalogue(connection).read(database, schema, name)


class _Catalogue:
    """The tables and views of a connection, and what was read of them so far."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._tables: list[Entry] = connection.sql(
            "SELECT database_name, schema_name, table_name, table_oid, sql FROM duckdb_tables()"
        ).fetchall()
        self._views: list[Entry] = connection.sql(
            "SELECT database_name, schema_name, view_name, view_oid, sql FROM "
            "duckdb_views() WHERE NOT internal"
        ).fetchall()
        self._own = {
            name
            for name, kind in connection.sql(
                "SELECT database_name, type FROM duckdb_databases()"
            ).fetchall()
            if kind == "duckdb"
        }
        self._functions: frozenset[tuple[Any, ...]] | None = None
        self._found: set[Entry] = set()

    def read(self, database: str | None, schema: str | None, name: str) -> frozenset[Entry]:
        tables, views = (
            _meant(self._connection, listed, database, schema, name)
            for listed in (self._tables, self._views)
        )
        self._add(name, tables, views)
        return frozenset(self._found)

    def _add(self, name: str, tables: list[Entry], views: list[Entry]) -> None:
        if not tables and not views:
            raise Unstable(
                f"the catalogue has no table {name!r:.60}: a file, or a variable of the "
                f"program, is read anew at every look"
            )
        for table in tables:
            if table[0] not in self._own:
                raise Unstable(
                    f"{name!r:.60} lies in a database of another system, which may show "
                    f"another state at every look"
                )
        self._found.update(tables)
        for view in views:
            if view not in self._found:
                self._found.add(view)
                self._query(self._parsed(view))

    def _parsed(self, view: Entry) -> Any:
        """The query of a view, as DuckDB's parser has it. Its text begins with the name of the
        view.
        """
        text = (view[4] or "").partition(" AS ")[2]
        if not text:
            raise Unstable(
                "what it reads is not told by the catalogue, as of a frame that was registered"
            )
        found = json.loads(
            self._connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()[0]
        )
        if found["error"] or len(found["statements"]) != 1:
            raise Unstable("its text cannot be read")
        return found["statements"][0]["node"]

    def _query(self, node: Any) -> None:
        kind = node["type"]
        self._absent(node)
        if (
            kind == "SET_OPERATION_NODE"
            and node["setop_type"] in ("UNION", "UNION_BY_NAME")
            and node["setop_all"]
        ):
            self._query(node["left"])
            self._query(node["right"])
        elif kind == "SELECT_NODE":
            self._rows(node["from_table"])
            self._value(node["select_list"])
            self._value(node["where_clause"])
        else:
            raise Unstable(f"it has a {_said(kind)}")

    def _rows(self, source: Any) -> None:
        """What stands after FROM."""
        kind = source["type"]
        self._absent(source)
        if kind == "BASE_TABLE":
            self._named(source["catalog_name"], source["schema_name"], source["table_name"])
        elif kind == "SUBQUERY":
            self._query(source["subquery"]["node"])
        elif kind == "JOIN" and source["ref_type"] in _JOINS:
            self._rows(source["left"])
            self._rows(source["right"])
            self._value(source["condition"])
        elif kind == "TABLE_FUNCTION":
            raise Unstable(
                f"it reads what {source['function']['function_name']} gives, at every look anew"
            )
        else:
            raise Unstable(f"it reads a {_said(kind)}")

    def _named(self, database: str, schema: str, name: str) -> None:
        """A table or view that a view names: everything that bears the name, and at least one of
        them.
        """
        word = name.casefold()
        tables, views = (
            [one for one in listed if one[2].casefold() == word]
            for listed in (self._tables, self._views)
        )
        where = {place.casefold() for place in (database, schema) if place}
        if not any(where <= {one[0].casefold(), one[1].casefold()} for one in (*tables, *views)):
            tables = views = []
        if any(_GENERATED.search(text or "") for *_, text in tables):
            raise Unstable(f"it names {name!r:.60}, a table that generates columns")
        self._add(name, tables, views)

    def _absent(self, node: Any) -> None:
        for part, (absent, what) in PLAIN.items():
            if part in node and node[part] != absent:
                raise Unstable(f"it {what}")

    def _value(self, node: Any) -> None:
        """An expression, or what is part of one."""
        if isinstance(node, list):
            for part in node:
                self._value(part)
        if not isinstance(node, dict):
            return
        kind = node.get("class")
        if kind is not None and kind not in ROW_WISE:
            raise Unstable(f"it has a {_said(kind)}")
        if kind == "FUNCTION":
            self._function(node)
        elif kind == "COLUMN_REF" and (
            named := _CLOCK & {name.casefold() for name in node["column_names"]}
        ):
            raise Unstable(f"it calls {min(named)}")
        if kind != "CONSTANT":
            for part in node.values():
                self._value(part)

    def _function(self, node: Any) -> None:
        """Functions of one row that DuckDB brings along: not those of the owner, which may draw,
        nor macros, which may be anything.
        """
        if self._functions is None:
            self._functions = _functions(self._connection)
        name = node["function_name"].casefold()
        here = {one for one in self._functions if one[0].casefold() == name}
        scalar = {one for one in here if one[1] == "scalar"}
        if (
            not scalar
            or not here <= _built_in()
            or name in _CLAIMED
            or any(one[2] != "CONSISTENT" for one in scalar)
        ):
            raise Unstable(f"it calls {node['function_name']}")


def _said(kind: str) -> str:
    return kind.removesuffix("_NODE").removesuffix("_REF").lower().replace("_", " ")


def _functions(connection: Any) -> frozenset[tuple[Any, ...]]:
    """Name, kind, stability, arguments, result and text of everything that can be called, apart
    from what can only stand after FROM.
    """
    asked = (
        "SELECT function_name, function_type, stability, parameter_types::VARCHAR, "
        "return_type, macro_definition FROM duckdb_functions()"
    )
    return frozenset(
        connection.sql(
            f"{asked} WHERE function_type NOT IN ('table', 'table_macro', 'pragma')"
        ).fetchall()
    )


@cache
def _built_in() -> frozenset[tuple[Any, ...]]:
    import duckdb

    with duckdb.connect(":memory:") as fresh:
        return _functions(fresh)


def _meant(
    connection: Any, listed: list[Any], database: str | None, schema: str | None, name: str
) -> list[Any]:
    """Of things listed as database, schema, name and more, those that a name may mean: `a.b` is
    schema a, or database a; `b` is temporary, or on the path.
    """
    path = {
        one.casefold() for one in connection.sql("SELECT current_schemas(true)").fetchall()[0][0]
    }
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
