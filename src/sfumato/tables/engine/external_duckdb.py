"""Run queries on the owner's DuckDB, by an Ibis connection.

*Settings*  Settings, rights, memory and speed are the owner's. One query at a time.
*Tables*    Stored tables, and views that choose rows and columns of them: see `duckdb_catalog`.
            Generated columns are left out.
*Same*      A statement is one transaction, so it sees one state of every table however often it
            reads it. The engine compares before and after that a name still means the same table.
*Keys*      Long public key sets are temporary tables of the connection while a statement runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..expr.types import Type
from . import engine_refusals as refusals
from .dialects.duckdb_dialect import FastDuckDBCompiler
from .duckdb_catalog import CatalogEntry, catalog_entries, generated_columns
from .duckdb_columns import cast_columns, read_types, select_sql
from .duckdb_engine import compile_sql, copy_rows, import_duckdb, quote_name
from .external import ExternalEngine, declared_schema, uuids_as_text
from .sql_cache import SqlCache
from .timeout import deadline

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from ibis.backends.duckdb import Backend
    from ibis.expr.schema import Schema

Columns = tuple["Schema", dict[str, str]]
"""The columns of a table, and the generated ones with the reason to leave them out."""

Place = tuple[str | None, str | None, str]
"""Database, schema and name of a table, as far as the owner gave them."""


class ExternalDuckDB(ExternalEngine):
    """The engine of the owner's connection to DuckDB."""

    def __init__(self, backend: Backend) -> None:
        import_duckdb()
        super().__init__(backend)
        # table → its entries in the catalogue, and its columns
        self._tables: dict[Place, tuple[frozenset[CatalogEntry], Columns]] = {}
        compiler = FastDuckDBCompiler()
        self._sql_cache = SqlCache(
            lambda expression: compile_sql(compiler, uuids_as_text(expression.as_table()))
        )

    @property
    def version(self) -> str:
        return f"DuckDB {self.backend.version}"

    def sql(self, expression: ir.Expr) -> str:
        return self._sql_cache.text(expression)

    def check(self, timeout: float | None = None) -> None:
        super().check(timeout)
        self.verify()

    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
        import ibis.expr.operations as ops

        super().check(timeout)
        text, created = self.sql(expression), list[str]()
        connection = self.backend.con
        with self._lock, deadline(timeout, connection.interrupt):
            try:
                for op in expression.op().find(ops.InMemoryTable):
                    copy_rows(
                        connection, op.name, op.data.to_pyarrow(op.schema), "CREATE TEMP TABLE"
                    )
                    created.append(op.name)
                return connection.execute(text).to_arrow_table()
            finally:
                _drop(connection, created)

    def verify(self) -> object:
        with self._lock:
            for place, (entries, columns) in self._tables.items():
                current = self._entries(place)
                if current != entries:
                    if self._columns(place) != columns:
                        raise refusals.TABLE_ALTERED(table=place[-1])
                    self._tables[place] = current, columns
            return tuple(entries for entries, _ in self._tables.values())

    def resolve_table(self, table: ir.Table) -> ir.Table:
        """Register a table; refuse it if two reads may give different rows."""
        op = table.op()
        place = op.namespace.catalog, op.namespace.database, op.name
        self._tables[place] = self._entries(place), self._columns(place)
        return table

    def left_out(self, table: ir.Table) -> dict[str, str]:
        op = table.op()
        return generated_columns(
            self.backend.con, op.namespace.catalog, op.namespace.database, op.name
        )

    def cast_table(
        self, table: ir.Table, declared: Mapping[str, Type], left_out: dict[str, str], name: str
    ) -> tuple[ir.Table, dict[str, Type]]:
        """Cast the columns by the same SQL as those of a file, so that no cell of either fails."""
        op = table.op()
        place = op.namespace.catalog, op.namespace.database, op.name
        relation = ".".join(quote_name(part) for part in place if part)
        described = [
            row[:2]
            for row in self.backend.con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        ]
        filled = [column for column, dtype in table.schema().items() if not dtype.nullable]
        have = read_types(described, left_out, filled)
        schema = declared_schema(have, declared, left_out, name)
        column_sql = cast_columns(described, have, schema, by_bytes=True)
        columns = {column: kind.to_ibis() for column, kind in schema.items()}
        return self.backend.sql(select_sql(column_sql, relation), schema=columns), schema

    def _entries(self, place: Place) -> frozenset[CatalogEntry]:
        return catalog_entries(self.backend.con, *place)

    def _columns(self, place: Place) -> Columns:
        database, schema, name = place
        return self.backend.get_schema(name, catalog=database, database=schema), generated_columns(
            self.backend.con, *place
        )


def _drop(connection: DuckDBPyConnection, names: Iterable[str]) -> None:
    for name in names:
        connection.execute(f"DROP TABLE temp.{quote_name(name)}")
