"""Check in a DuckDB catalogue that two reads of a table or view give the same rows; leave generated
columns out and refuse unstable views.

*Why*        A plan reads the table twice: it counts the rows of each unit, then sums them. The
             contribution bound holds only if both reads see the same rows. And one unit's rows must
             not depend on another unit's: a view that takes the first row, numbers rows or adds
             doubles may change other rows when one row is added.
*Tables*     Stored tables of DuckDB's own databases: a statement sees one state of each. Attached
             tables of another system, files and frames of the program have no such state.
*Views*      Views of a database file are refused. A view of the owner's connection is read if
             DuckDB's own parser finds in it, and in the views that it names, only columns,
             constants, conditions and functions of one row, joins, sub-queries of the same kind and
             UNION ALL. This is an allow-list: everything else is refused, also additions of later
             DuckDB versions.
*Generated*  A generated column is always left out: computing it may fail on a row, which would
             reveal that row. A view over such a table is refused.
*In doubt*   A name in a view means every table and view of that name, in any schema. A view whose
             text DuckDB does not keep is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from . import engine_refusals as refusals

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GENERATED = re.compile(r"generated\s+always\s+as", re.IGNORECASE)
_CLOCK = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "rowid"}
)
"""Names that look like columns and are not: clocks written without parentheses, and the row's
position.
"""
_NOT_CONSISTENT = frozenset(
    {"age", "current_localtime", "current_localtimestamp", "current_setting", "getvariable"}
)
"""Functions that DuckDB marks as consistent although they read a clock or the connection. (`age` of
two arguments does not; refusing it is harmless.)
"""

PLAIN: Mapping[str, tuple[object, str]] = {
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
"""Part of a query or table reference → its value when absent, and what it does otherwise."""

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
"""DuckDB's expression classes that depend on one row only."""
# not ASOF, which chooses among rows, nor POSITIONAL, which counts them
_JOINS = frozenset({"REGULAR", "NATURAL", "CROSS"})

REASON = "the database computes this column at every read: only stored columns are read"

CatalogEntry = tuple[str, str, str, int, str]
"""Database, schema, name, number and SQL text of a table or view in the catalogue."""

FunctionEntry = tuple[str, str, str, str, str | None, str | None]
"""Name, kind, stability, arguments, result and text of a function."""

SyntaxNode = dict[str, Any]
"""A node of DuckDB's parser, as JSON: its version decides the fields."""

_Row = TypeVar("_Row", bound=tuple[Any, ...])


def generated_columns(
    connection: DuckDBPyConnection, database: str | None, schema: str | None, table: str
) -> dict[str, str]:
    """Return the generated columns of a table, with the reason why they are left out. In such a
    table a column with a default counts as generated, too: the catalogue does not tell them apart.
    Without a database or schema, the name may be found anywhere.
    """
    tables = connection.sql(
        "SELECT database_name, schema_name, table_name, sql FROM duckdb_tables()"
    ).fetchall()
    tables_with_generated = {
        (database_name, schema_name, name)
        for database_name, schema_name, name, text in _matching(
            connection, tables, database, schema, table
        )
        if _GENERATED.search(text or "")
    }
    if not tables_with_generated:
        return {}
    columns_query = (
        "SELECT database_name, schema_name, table_name, column_name FROM duckdb_columns() "
        "WHERE column_default IS NOT NULL ORDER BY column_index"
    )
    return {
        column: REASON
        for *place, column in connection.sql(columns_query).fetchall()
        if tuple(place) in tables_with_generated
    }


def catalog_entries(
    connection: DuckDBPyConnection, database: str | None, schema: str | None, name: str
) -> frozenset[CatalogEntry]:
    """Return every table and view that a name reads; refuse it if two reads may differ."""
    return _Catalogue(connection, name).read(database, schema)


class _Catalogue:
    """The tables and views of a connection, and those that a declared table reads."""

    def __init__(self, connection: DuckDBPyConnection, table: str) -> None:
        self._connection = connection
        self._table = table  # as the owner calls it, for refusals
        self._tables: Sequence[CatalogEntry] = connection.sql(
            "SELECT database_name, schema_name, table_name, table_oid, sql FROM duckdb_tables()"
        ).fetchall()
        self._views: Sequence[CatalogEntry] = connection.sql(
            "SELECT database_name, schema_name, view_name, view_oid, sql FROM "
            "duckdb_views() WHERE NOT internal"
        ).fetchall()
        self._duckdb_names = {
            name
            for name, kind in connection.sql(
                "SELECT database_name, type FROM duckdb_databases()"
            ).fetchall()
            if kind == "duckdb"
        }
        self._functions: frozenset[FunctionEntry] | None = None
        self._entries: set[CatalogEntry] = set()

    def read(self, database: str | None, schema: str | None) -> frozenset[CatalogEntry]:
        tables, views = (
            _matching(self._connection, listed, database, schema, self._table)
            for listed in (self._tables, self._views)
        )
        self._add(self._table, tables, views)
        return frozenset(self._entries)

    def _add(self, name: str, tables: list[CatalogEntry], views: list[CatalogEntry]) -> None:
        if not tables and not views:
            raise refusals.TABLE_NOT_IN_CATALOGUE(table=self._table, name=name)
        for table in tables:
            if table[0] not in self._duckdb_names:
                raise refusals.TABLE_OF_OTHER_SYSTEM(table=self._table, name=name)
        self._entries.update(tables)
        for view in views:
            if view not in self._entries:
                self._entries.add(view)
                self._check_query(self._parse(view))

    def _parse(self, view: CatalogEntry) -> SyntaxNode:
        """Parse the query of a view with DuckDB's parser."""
        text = (view[4] or "").partition(" AS ")[2]
        if not text:
            raise refusals.VIEW_WITHOUT_TEXT(table=self._table)
        parsed = json.loads(
            self._connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0]
        )
        if parsed["error"] or len(parsed["statements"]) != 1:
            raise refusals.VIEW_NOT_PARSED(table=self._table)
        node: SyntaxNode = parsed["statements"][0]["node"]
        return node

    def _check_query(self, node: SyntaxNode) -> None:
        kind = node["type"]
        self._check_absent(node)
        if (
            kind == "SET_OPERATION_NODE"
            and node["setop_type"] in ("UNION", "UNION_BY_NAME")
            and node["setop_all"]
        ):
            self._check_query(node["left"])
            self._check_query(node["right"])
        elif kind == "SELECT_NODE":
            self._check_from(node["from_table"])
            self._check_value(node["select_list"])
            self._check_value(node["where_clause"])
        else:
            raise refusals.VIEW_HAS_UNSAFE_STEP(table=self._table, step=_kind_words(kind))

    def _check_from(self, source: SyntaxNode) -> None:
        """Check the tables after FROM."""
        kind = source["type"]
        self._check_absent(source)
        if kind == "BASE_TABLE":
            self._add_named(source["catalog_name"], source["schema_name"], source["table_name"])
        elif kind == "SUBQUERY":
            self._check_query(source["subquery"]["node"])
        elif kind == "JOIN" and source["ref_type"] in _JOINS:
            self._check_from(source["left"])
            self._check_from(source["right"])
            self._check_value(source["condition"])
        elif kind == "TABLE_FUNCTION":
            raise refusals.VIEW_CALLS_TABLE_FUNCTION(
                table=self._table, function=source["function"]["function_name"]
            )
        else:
            step = f"{source['ref_type'].lower()} join" if kind == "JOIN" else _kind_words(kind)
            raise refusals.VIEW_HAS_UNSAFE_STEP(table=self._table, step=step)

    def _add_named(self, database: str, schema: str, name: str) -> None:
        """Add every table and view that bears a name used in a view; there is at least one."""
        word = name.casefold()
        tables, views = (
            [entry for entry in listed if entry[2].casefold() == word]
            for listed in (self._tables, self._views)
        )
        where = {place.casefold() for place in (database, schema) if place}
        if not any(
            where <= {entry[0].casefold(), entry[1].casefold()} for entry in (*tables, *views)
        ):
            tables = views = []
        if any(_GENERATED.search(text or "") for *_, text in tables):
            raise refusals.VIEW_OF_GENERATED_COLUMNS(table=self._table, name=name)
        self._add(name, tables, views)

    def _check_absent(self, node: SyntaxNode) -> None:
        for part, (absent, action) in PLAIN.items():
            if part in node and node[part] != absent:
                raise refusals.VIEW_NOT_ROW_WISE(table=self._table, action=action)

    def _check_value(self, node: object) -> None:
        """Check an expression and its parts."""
        if isinstance(node, list):
            for part in node:
                self._check_value(part)
        if not isinstance(node, dict):
            return
        kind = node.get("class")
        if kind is not None and kind not in ROW_WISE:
            raise refusals.VIEW_HAS_UNSAFE_STEP(table=self._table, step=_kind_words(kind))
        if kind == "FUNCTION":
            self._check_function(node)
        elif kind == "COLUMN_REF" and (
            named := _CLOCK & {name.casefold() for name in node["column_names"]}
        ):
            raise refusals.VIEW_CALLS_FUNCTION(table=self._table, function=min(named))
        if kind != "CONSTANT":
            for part in node.values():
                self._check_value(part)

    def _check_function(self, node: SyntaxNode) -> None:
        """Allow DuckDB's own functions of one row. The owner's functions may be random, and macros
        may be anything.
        """
        if self._functions is None:
            self._functions = _list_functions(self._connection)
        name = node["function_name"].casefold()
        here = {function for function in self._functions if function[0].casefold() == name}
        scalar = {function for function in here if function[1] == "scalar"}
        if (
            not scalar
            or not here <= _built_in()
            or name in _NOT_CONSISTENT
            or any(function[2] != "CONSISTENT" for function in scalar)
        ):
            raise refusals.VIEW_CALLS_FUNCTION(table=self._table, function=node["function_name"])


def _kind_words(kind: str) -> str:
    return kind.removesuffix("_NODE").removesuffix("_REF").lower().replace("_", " ")


def _list_functions(connection: DuckDBPyConnection) -> frozenset[FunctionEntry]:
    """List name, kind, stability, arguments, result and text of all functions except table
    functions.
    """
    query = (
        "SELECT function_name, function_type, stability, parameter_types::VARCHAR, "
        "return_type, macro_definition FROM duckdb_functions()"
    )
    return frozenset(
        connection.sql(
            f"{query} WHERE function_type NOT IN ('table', 'table_macro', 'pragma')"
        ).fetchall()
    )


@cache
def _built_in() -> frozenset[FunctionEntry]:
    import duckdb

    with duckdb.connect(":memory:") as fresh:
        return _list_functions(fresh)


def _matching(
    connection: DuckDBPyConnection,
    listed: Sequence[_Row],
    database: str | None,
    schema: str | None,
    name: str,
) -> list[_Row]:
    """Return the rows (database, schema, name, …) that a name may mean: in `a.b`, a is a schema or
    a database; `b` alone is temporary, or on the search path.
    """
    path = {
        name_on_path.casefold()
        for name_on_path in connection.sql("SELECT current_schemas(true)").fetchall()[0][0]
    }
    matches = []
    for row in listed:
        here, within, called = (word.casefold() for word in row[:3])
        if database is not None:
            there = here == database.casefold() and within == (schema or "main").casefold()
        else:
            there = schema.casefold() in (here, within) if schema is not None else within in path
        if there and called == name.casefold():
            matches.append(row)
    return matches
