"""PostgreSQL as the engine: a server of the owner's, by its URL or by an Ibis connection. Tables
are read where they lie.

*Rights*    Every question is a transaction that may only read, with the settings below, which end
            with it. A role that may SELECT from the table is enough: nothing is created, not even a
            temporary table. Names are looked up in the server's own schema, so nobody's function
            stands in for one of its own.
*URL*       Goes to the driver, and nowhere else: neither card nor ledger nor message has it, nor
            anything the driver says.
*Time*      A time-out is given to the server as its statement_timeout, and the question is
            cancelled from here as well. Without one, the role's own holds.
*Tables*    Views are refused: a row of one may be about many people. So are servers before 16,
            which cannot say whether a text can be read without reading it.
*One*       question at a time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from ...errors import Refused
from ..expr.types import DIGITS
from .dialects.postgres_dialect import Compiler, by_bytes, without_nan
from .duckdb_engine import compiled
from .external import Lent
from .frame_sources import unread
from .sql_cache import Written
from .timeout import deadline, known_timeout

SETTINGS: Mapping[str, tuple[str, str]] = {
    "TimeZone": ("UTC", "a day begins at the same instant on every machine"),
    "DateStyle": ("ISO, YMD", "a date is written and read in one way"),
    "search_path": ("pg_catalog, pg_temp", "functions and operators are the server's own"),
    "standard_conforming_strings": ("on", "a backslash is a letter"),
    "transform_null_equals": ("off", "nothing equals null"),
    "array_nulls": ("on", "NULL in a list of keys is null"),
    "extra_float_digits": ("1", "the text of a float is exact"),
    "jit": ("off", "to compile such a statement takes longer than to run it"),
    "enable_nestloop": (
        "off",
        "rows of one unit are joined by a hash, and not each with each, where there is another way",
    ),
    "client_min_messages": ("error", "nothing is said about rows"),
}
"""Setting → value and reason; of one transaction, each time."""

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
_COLUMNS = """SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, t.typtype::text, a.attgenerated::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE a.attnum > 0 AND NOT a.attisdropped
AND a.attrelid = (SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s)
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
"""The server's number of a type → the type that Ibis has for it. Beside these, decimals with digits
and enumerations are read; all else is left out, whatever Ibis takes it for: to Ibis `money` is a
decimal and `oid` an integer, and the server compares neither with one.
"""


class Own(psycopg.Connection[Any]):
    """A connection that was made here, and is closed here."""


class Postgres(Lent):
    """The engine of a connection to PostgreSQL, ours or lent."""

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._pid = os.getpid()
        compiler = Compiler()
        self._written = Written(lambda expression: compiled(compiler, expression))

    @property
    def version(self) -> str:
        number = self.backend.con.info.server_version
        return f"PostgreSQL {number // 10000}.{number % 10000}"

    def sql(self, expression: Any) -> str:
        return self._written.text(expression)

    def check(self, timeout: float | None = None) -> None:
        known_timeout(timeout)
        if os.getpid() != self._pid:
            raise Refused(
                "engine.fork",
                "release(…)",
                "a forked process shares the connection with its parent",
                "protect(…) in each process",
            )
        if self.backend.con.closed:
            raise Refused(
                "engine.closed", "release(…)", "the connection was closed", "protect(…) again"
            )
        if self.backend.con.info.transaction_status != TransactionStatus.IDLE:
            raise Refused(
                "engine.busy",
                "release(…)",
                "the connection is inside a transaction of its owner",
                "a connection with autocommit=True",
            )

    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
        text, schema = self.sql(expression), expression.as_table().schema()
        with self._lock:
            self.check(timeout)
            connection = self.backend.con
            with deadline(timeout, connection.cancel), connection.cursor(binary=True) as cursor:
                try:
                    connection.execute("; ".join([_BEGIN, *_settings(timeout)]))
                    cursor.execute(text, prepare=False)
                    return _arrow(cursor, schema)
                finally:
                    if (
                        not connection.closed
                        and connection.info.transaction_status != TransactionStatus.IDLE
                    ):
                        connection.execute("ROLLBACK")

    def known(self, table: Any) -> Any:
        """By its full name, as names are looked up elsewhere while it is read."""
        op = table.op()
        self.check()
        schema, name = _found(self.backend.con, op.name, op.namespace.database)
        return _table(self.backend, schema, name)

    def left_out(self, table: Any) -> dict[str, str]:
        """Columns of types that are not listed, and those that are computed when they are read."""
        op = table.op()
        about = _columns(self.backend.con, op.namespace.database, op.name)
        return {
            column: unread("numeric without digits" if text == "numeric" else text)
            for column, (dtype, text) in about.items()
            if dtype is None
        }

    def plain(self, value: Any) -> Any:
        """Texts by their bytes, of char(n) without the blanks that fill it; decimals without
        NaN.
        """
        name, dtype = value.get_name(), value.type()
        made = (
            by_bytes()(value)
            if dtype.is_string()
            else without_nan()(value)
            if dtype.is_decimal()
            else value
        )
        return (made if dtype.is_string() or not dtype.is_decimal() else made.cast(dtype)).name(
            name
        )

    def close(self) -> None:
        """A lent connection stays open: it is the owner's."""
        if isinstance(self.backend.con, Own) and os.getpid() == self._pid:
            self.backend.con.close()


def _settings(timeout: float | None) -> list[str]:
    made = {name: value for name, (value, _) in SETTINGS.items()}
    if timeout is not None:
        made["statement_timeout"] = f"{max(1, round(min(timeout, 2_000_000) * 1000))}ms"
    return [
        f"SET LOCAL {name} = {value if name == 'search_path' else repr(value)}"
        for name, value in made.items()
    ]


def _arrow(cursor: Any, schema: Any) -> Any:
    """The rows as Arrow has them; sums of 64-bit integers come as decimals, and stay so."""
    import pyarrow as pa

    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(schema)
    made = []
    for values, (_, dtype), about in zip(columns, schema.items(), cursor.description, strict=True):
        wide = (
            about.type_code == _NUMERIC
            and not dtype.is_floating()
            and not (dtype.is_decimal() and dtype.scale)
        )
        if dtype.is_uuid():
            made.append(
                pa.array([None if value is None else str(value) for value in values], pa.string())
            )
        elif dtype.is_timestamp():
            made.append(pa.array(values, pa.timestamp("us", dtype.timezone)))
        else:
            made.append(pa.array(values, pa.decimal128(38, 0) if wide else dtype.to_pyarrow()))
    return pa.table(made, names=list(schema.names))


def connected(url: str, table: str | None) -> Any:
    """The Ibis table of that name, on a connection of ours. The URL may hold a password: it is in
    no message.
    """
    import ibis
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(url)
        connection = Own.connect(make_conninfo("", **{**_DEFAULTS, **given}), autocommit=True)
    except Exception:  # what the driver says may name hosts, roles and more
        reason = "the server cannot be reached, or does not let this role in"
        raise Refused(
            "engine.connection",
            'protect("postgresql://…")',
            reason,
            "the URL that psql takes: postgresql://role@host/database",
        ) from None
    try:
        return _table(ibis.postgres.from_connection(connection), *_found(connection, table))
    except BaseException:
        connection.close()
        raise


def _columns(connection: Any, schema: str, name: str) -> dict[str, tuple[Any, str]]:
    """Of each column its Ibis type, or None if it is not read, and the server's name of its
    type.
    """
    import ibis.expr.datatypes as dt

    found: dict[str, tuple[Any, str]] = {}
    for column, number, modifier, filled, sort, generated, text in connection.execute(
        _COLUMNS, [schema, name]
    ).fetchall():
        known = "string" if sort == "e" else TYPES.get(number)
        if number == _NUMERIC and modifier >= 0:
            digits, scale = (
                (modifier - 4 >> 16) & 0xFFFF,
                modifier - 4 & 0x7FF,
            )  # as the server packs them; a scale below zero is beyond 1000
            known = f"decimal({digits}, {scale})" if scale <= digits <= DIGITS else None
        virtual = generated == "v"
        dtype = None if known is None or virtual else dt.dtype(known, nullable=not filled)
        found[column] = (dtype, f"{text}, computed when it is read," if virtual else text)
    return found


def _table(backend: Any, schema: str, name: str) -> Any:
    """A table as Ibis knows it, with the columns that are read."""
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


def _found(connection: Any, table: str | None, schema: str | None = None) -> tuple[str, str]:
    """Schema and name of the table that is meant: the one named, or the only one."""
    if connection.info.server_version < OLDEST:
        reason = (
            "servers before 16 cannot say whether a text can be read without reading it, and "
            "reading fails"
        )
        raise Refused(
            "engine.version",
            f"PostgreSQL {connection.info.server_version // 10000}",
            reason,
            "PostgreSQL 16 or later",
        )
    if (
        connection.info.encoding != "utf-8"
        or connection.info.parameter_status("server_encoding") != "UTF8"
    ):
        raise Refused(
            "engine.version",
            "the database's encoding",
            "texts are compared by the bytes of UTF-8",
            "a database with ENCODING 'UTF8'",
        )
    if table is None:
        rows = connection.execute(
            f"{_WHERE}{_VISIBLE} AND c.relkind IN ('r', 'p', 'm', 'f') LIMIT 2"
        ).fetchall()
        if len(rows) != 1:
            raise Refused(
                "table.table",
                'protect("postgresql://…")',
                "the database has not exactly one table: name the one",
                'table="visits"',
            )
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
    if not rows or rows[0][2] in _KINDS:
        missing = "the database has no table of this name that this role can see"
        reason = (
            f"this is {_KINDS[rows[0][2]]}, whose rows may be about many people"
            if rows
            else missing
        )
        raise Refused(
            "table.table",
            f"table={table!r:.60}",
            reason,
            'a table: table="visits", or table="clinic.visits"',
        )
    return rows[0][0], rows[0][1]
