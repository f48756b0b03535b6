"""Run queries on the owner's PostgreSQL server, by its URL or by an Ibis connection.

*Rights*    Every query is a read-only transaction with the settings below, which end with it. A
            role that may SELECT from the table is enough: nothing is created, not even a temporary
            table. Functions come from the server's own schema, so that nobody can replace one.
*URL*       goes to the driver and nowhere else: no card, ledger entry or message holds it, nor any
            text of the driver.
*Time*      The server gets a time-out as its statement_timeout, and the client cancels the query,
            too. Without one, the time-out of the role holds.
*Tables*    Views are refused: a row of a view may be about many people. Servers before 16 are
            refused: they cannot test whether a text can be cast without casting it.
*One*       query at a time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from ..expr.types import DIGITS
from . import engine_refusals as refusals
from .dialects.postgres_dialect import TotalPostgresCompiler, by_bytes, without_nan
from .duckdb_engine import compile_sql
from .external import ExternalEngine
from .frame_sources import unread_reason
from .sql_cache import SqlCache
from .timeout import check_timeout, deadline

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    import pyarrow as pa
    from ibis.backends.postgres import Backend
    from ibis.expr.schema import Schema

SETTINGS: Mapping[str, tuple[str, str]] = {
    "TimeZone": ("UTC", "a day begins at the same instant on every machine"),
    "DateStyle": ("ISO, YMD", "a date is written and read in one way"),
    "search_path": ("pg_catalog, pg_temp", "functions and operators are the server's own"),
    "standard_conforming_strings": ("on", "a backslash is a letter"),
    "transform_null_equals": ("off", "nothing equals null"),
    "array_nulls": ("on", "NULL in a list of keys is null"),
    "extra_float_digits": ("1", "the text of a float is exact"),
    "jit": ("off", "compiling such a statement takes longer than running it"),
    "enable_nestloop": (
        "off",
        "rows of one unit are joined by a hash, not each with each, if possible",
    ),
    "client_min_messages": ("error", "nothing is said about rows"),
}
"""Setting → value and reason; set in every transaction."""

OLDEST = 160000
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_DEFAULTS = {"connect_timeout": "10", "application_name": "sfumato"}
_KINDS = {"v": "a view", "S": "a sequence", "c": "a type", "i": "an index"}
_WHERE = (
    "SELECT n.nspname, c.relname, c.relkind::text FROM pg_catalog.pg_class c JOIN "
    "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE "
)
_VISIBLE = (
    "pg_catalog.pg_table_is_visible(c.oid) AND n.nspname NOT IN ('pg_catalog', "
    "'information_schema')"
)
_NUMERIC = 1700  # the server's number of its type
_COLUMNS = """SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, t.typtype::text,
    a.attgenerated::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = (
    SELECT c.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = %s)
ORDER BY a.attnum"""

TYPES: Mapping[int, str] = {
    16: "boolean",
    19: "string",  # name
    20: "int64",
    21: "int16",
    23: "int32",
    25: "string",  # text
    700: "float32",
    701: "float64",
    1042: "string",  # char(n)
    1043: "string",  # varchar(n)
    1082: "date",
    1114: "timestamp",
    1184: "timestamp('UTC')",
    2950: "uuid",
}
"""The server's number of a type → Ibis's name of it. Decimals with digits and enumerations are
read, too; other types are left out, even if Ibis knows them: to Ibis `money` is a decimal and `oid`
an integer, but the server does not compare them with one.
"""


class OwnConnection(psycopg.Connection[TupleRow]):
    """A connection that this module opened and closes."""


class Postgres(ExternalEngine):
    """The engine of a connection to PostgreSQL, opened here or by the owner."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._pid = os.getpid()
        compiler = TotalPostgresCompiler()
        self._sql_cache = SqlCache(lambda expression: compile_sql(compiler, expression))

    @property
    def version(self) -> str:
        number = self.backend.con.info.server_version
        return f"PostgreSQL {number // 10000}.{number % 10000}"

    def sql(self, expression: ir.Expr) -> str:
        return self._sql_cache.text(expression)

    def check(self, timeout: float | None = None) -> None:
        check_timeout(timeout)
        if os.getpid() != self._pid:
            raise refusals.CONNECTION_FORKED()
        if self.backend.con.closed:
            raise refusals.CONNECTION_CLOSED()
        if self.backend.con.info.transaction_status != TransactionStatus.IDLE:
            raise refusals.CONNECTION_IN_TRANSACTION()

    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
        text, schema = self.sql(expression), expression.as_table().schema()
        with self._lock:
            self.check(timeout)
            connection = self.backend.con
            with deadline(timeout, connection.cancel), connection.cursor(binary=True) as cursor:
                try:
                    connection.execute("; ".join([_BEGIN, *_settings(timeout)]))
                    cursor.execute(text, prepare=False)
                    return _to_arrow(cursor, schema)
                finally:
                    if (
                        not connection.closed
                        and connection.info.transaction_status != TransactionStatus.IDLE
                    ):
                        connection.execute("ROLLBACK")

    def resolve_table(self, table: ir.Table) -> ir.Table:
        """Return the table under its full name: queries run with another search path."""
        op = table.op()
        self.check()
        schema, name = _find_table(self.backend.con, op.name, op.namespace.database)
        return _table(self.backend, schema, name)

    def left_out(self, table: ir.Table) -> dict[str, str]:
        """Return columns of types that are not listed, and virtual generated columns."""
        op = table.op()
        about = _columns(self.backend.con, op.namespace.database, op.name)
        return {
            column: unread_reason("numeric without digits" if text == "numeric" else text)
            for column, (dtype, text) in about.items()
            if dtype is None
        }

    def plain_column(self, value: ir.Column) -> ir.Column:
        """Compare texts by bytes, without the padding of char(n), and replace NaN in decimals."""
        name, dtype = value.get_name(), value.type()
        plain = (
            by_bytes()(value)
            if dtype.is_string()
            else without_nan()(value)
            if dtype.is_decimal()
            else value
        )
        return (plain if dtype.is_string() or not dtype.is_decimal() else plain.cast(dtype)).name(
            name
        )

    def close(self) -> None:
        """Close a connection opened here; leave the owner's connection open."""
        if isinstance(self.backend.con, OwnConnection) and os.getpid() == self._pid:
            self.backend.con.close()


def _settings(timeout: float | None) -> list[str]:
    settings = {name: value for name, (value, _) in SETTINGS.items()}
    if timeout is not None:
        settings["statement_timeout"] = f"{max(1, round(min(timeout, 2_000_000) * 1000))}ms"
    return [
        f"SET LOCAL {name} = {value if name == 'search_path' else repr(value)}"
        for name, value in settings.items()
    ]


def _to_arrow(cursor: psycopg.Cursor[TupleRow], schema: Schema) -> pa.Table:
    """Convert the rows to Arrow; sums of 64-bit integers stay decimals."""
    import pyarrow as pa

    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(schema)
    arrays = []
    for values, (_, dtype), about in zip(
        columns, schema.items(), cursor.description or (), strict=True
    ):
        wide = (
            about.type_code == _NUMERIC
            and not dtype.is_floating()
            and not (dtype.is_decimal() and dtype.scale)
        )
        if dtype.is_uuid():
            arrays.append(
                pa.array([None if value is None else str(value) for value in values], pa.string())
            )
        elif dtype.is_timestamp():
            arrays.append(pa.array(values, pa.timestamp("us", dtype.timezone)))
        else:
            arrays.append(pa.array(values, pa.decimal128(38, 0) if wide else dtype.to_pyarrow()))
    return pa.table(arrays, names=list(schema.names))


def connect(url: str, table: str | None) -> ir.Table:
    """Connect to a server and return the Ibis table of that name. The URL may hold a password, so
    no message shows it.
    """
    import ibis
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        parameters = conninfo_to_dict(url)
        connection = OwnConnection.connect(
            make_conninfo("", **{**_DEFAULTS, **parameters}), autocommit=True
        )
    except Exception:  # what the driver says may name hosts, roles and more
        raise refusals.SERVER_UNREACHABLE() from None
    try:
        return _table(ibis.postgres.from_connection(connection), *_find_table(connection, table))
    except BaseException:
        connection.close()
        raise


def _columns(
    connection: psycopg.Connection[TupleRow], schema: str, name: str
) -> dict[str, tuple[dt.DataType | None, str]]:
    """Map each column to its Ibis type (None if it is not read) and the server's type name."""
    import ibis.expr.datatypes as dt

    columns: dict[str, tuple[dt.DataType | None, str]] = {}
    for column, number, modifier, filled, sort, generated, text in connection.execute(
        _COLUMNS, [schema, name]
    ).fetchall():
        dtype_name = "string" if sort == "e" else TYPES.get(number)
        if number == _NUMERIC and modifier >= 0:
            # the server packs both into one number; a negative scale reads as more than 1000
            digits, scale = (
                (modifier - 4 >> 16) & 0xFFFF,
                modifier - 4 & 0x7FF,
            )
            dtype_name = f"decimal({digits}, {scale})" if scale <= digits <= DIGITS else None
        virtual = generated == "v"
        dtype = None if dtype_name is None or virtual else dt.dtype(dtype_name, nullable=not filled)
        columns[column] = (dtype, f"{text}, computed when it is read," if virtual else text)
    return columns


def _table(backend: Backend, schema: str, name: str) -> ir.Table:
    """Build the Ibis table with the columns that are read."""
    import ibis.expr.operations as ops
    from ibis.expr.schema import Schema

    read = {
        column: dtype
        for column, (dtype, _) in _columns(backend.con, schema, name).items()
        if dtype is not None
    }
    return ops.DatabaseTable(
        name=name, schema=Schema(read), source=backend, namespace=ops.Namespace(database=schema)
    ).to_expr()


def _find_table(
    connection: psycopg.Connection[TupleRow], table: str | None, schema: str | None = None
) -> tuple[str, str]:
    """Find schema and name of the named table, or of the only table."""
    if connection.info.server_version < OLDEST:
        raise refusals.POSTGRES_TOO_OLD(version=connection.info.server_version // 10000)
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise refusals.DATABASE_NOT_UTF8()
    if connection.info.encoding != "utf-8":
        raise refusals.CLIENT_NOT_UTF8()
    if table is None:
        rows = connection.execute(
            f"{_WHERE}{_VISIBLE} AND c.relkind IN ('r', 'p', 'm', 'f') LIMIT 2"
        ).fetchall()
        if len(rows) != 1:
            raise refusals.TABLE_OF_SERVER_NOT_NAMED()
        return rows[0][0], rows[0][1]
    named, dot, rest = (schema or "", ".", table) if schema else table.partition(".")
    rows = (
        connection.execute(f"{_WHERE}c.relname = %s AND {_VISIBLE}", [table]).fetchall()
        if not schema
        else []
    )
    rows = rows or (
        connection.execute(f"{_WHERE}n.nspname = %s AND c.relname = %s", [named, rest]).fetchall()
        if dot
        else []
    )
    if not rows:
        raise refusals.TABLE_NOT_VISIBLE(table=table)
    if rows[0][2] in _KINDS:
        raise refusals.NOT_A_STORED_TABLE(table=table, kind=_KINDS[rows[0][2]])
    return rows[0][0], rows[0][1]
