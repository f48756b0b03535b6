"""A DuckDB that the owner lends, by an Ibis connection. Tables are read where they lie.

*Settings*  are the owner's, and so are rights, memory and speed. One question at a time.
*Tables*    Stored tables, and views that pick rows and columns of them: see `volatile`. Generated
            columns are left out.
*Same*      A statement is a transaction of its own, and so sees one state of every table, however
            often it reads it. That a name still means what it meant when the question was checked
            is compared before and after.
*Keys*      Long lists of public keys are temporary tables of the connection for as long as a
            statement runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import Refused
from .dialects.duckdb_dialect import Compiler
from .duckdb_catalog import Entry, Unstable, entries, generated
from .duckdb_engine import compiled, copy_rows, identifier, known_duckdb
from .external import Lent, portable
from .sql_cache import Written
from .timeout import deadline

Place = tuple[str | None, str | None, str]
"""Database, schema and name, as far as they were given."""


class DuckDB(Lent):
    """The engine of a lent connection to DuckDB."""

    def __init__(self, backend: Any) -> None:
        known_duckdb()
        super().__init__(backend)
        self._lent: dict[
            Place, tuple[frozenset[Entry], Any]
        ] = {}  # what was lent: what the catalogue says of it, and its columns
        compiler = Compiler()
        self._written = Written(
            lambda expression: compiled(compiler, portable(expression.as_table()))
        )

    @property
    def version(self) -> str:
        return f"DuckDB {self.backend.version}"

    def sql(self, expression: Any) -> str:
        return self._written.text(expression)

    def check(self, timeout: float | None = None) -> None:
        super().check(timeout)
        self.verify()

    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
        import ibis.expr.operations as ops

        super().check(timeout)
        text, made = self.sql(expression), list[str]()
        connection = self.backend.con
        with self._lock, deadline(timeout, connection.interrupt):
            try:
                for op in expression.op().find(ops.InMemoryTable):
                    copy_rows(
                        connection, op.name, op.data.to_pyarrow(op.schema), "CREATE TEMP TABLE"
                    )
                    made.append(op.name)
                return connection.execute(text).to_arrow_table()
            finally:
                _drop(connection, made)

    def verify(self) -> object:
        with self._lock:
            for place, (known, columns) in self._lent.items():
                found = self._entries(place)
                if found != known:
                    if self._columns(place) != columns:
                        reason = (
                            "the table was altered or replaced, and its columns are not "
                            "those that were declared"
                        )
                        raise Refused(
                            "table.changed", f"{place[-1]!r:.60}", reason, "protect(…) again"
                        )
                    self._lent[place] = found, columns
            return tuple(known for known, _ in self._lent.values())

    def known(self, table: Any) -> Any:
        """Refused where two looks at it need not show the same rows."""
        op = table.op()
        place = op.namespace.catalog, op.namespace.database, op.name
        self._lent[place] = self._entries(place), self._columns(place)
        return table

    def left_out(self, table: Any) -> dict[str, str]:
        op = table.op()
        return generated(self.backend.con, op.namespace.catalog, op.namespace.database, op.name)

    def _entries(self, place: Place) -> frozenset[Entry]:
        name = place[-1]
        try:
            return entries(self.backend.con, *place)
        except Unstable as unstable:
            reason = (
                f"{unstable}: a unit is counted in one look at the rows and added up in "
                f"another, and both have to see the same"
            )
            stored = (
                f'protect(connection.create_table("{name}_stored", connection.table("{name}")), …)'
            )
            rewrite = (
                f"{stored}, which reads it once; or the Parquet file itself"
                if len(name) < 60
                else "a table, or a Parquet file"
            )
            raise Refused("table.source", f"{name!r:.60}", reason, rewrite) from None

    def _columns(self, place: Place) -> Any:
        database, schema, name = place
        return self.backend.get_schema(name, catalog=database, database=schema), generated(
            self.backend.con, *place
        )


def _drop(connection: Any, names: Iterable[str]) -> None:
    for name in names:
        connection.execute(f"DROP TABLE temp.{identifier(name)}")
