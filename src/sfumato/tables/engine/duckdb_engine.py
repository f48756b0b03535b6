"""Engines run one expression and return Arrow: the interface `Engine`, and `DuckDBEngine`, a DuckDB
of our own with fixed settings. Connections of the owner are in `external`.

*Closed*    DuckDBEngine opens the files it was given and nothing else: no other file, no network,
            no extension, no later change of settings. It spills to a directory that only this user
            can enter; `close()` removes it, or the end of the interpreter, or, after a kill, the
            next process (`spills`).
*Same*      Integers come out the same for any number of threads and any order of rows: the settings
            below change the speed, never the result.
*Cursors*   Every run has its own cursor, so several threads may run queries at once.
*Files*     A query may read a file more than once, and the contribution bound needs the same rows
            each time. `unchanged` compares the identity of all files before and after; a query
            during which a file was replaced or written fails.
*Secret*    The result of `run` is secret, and its exceptions may be, too: only `release` calls it,
            and turns every exception into one constant text.
"""

from __future__ import annotations

import importlib
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Protocol

from ...errors import Refused
from . import engine_refusals as refusals
from .spills import Spills
from .sql_cache import SqlCache
from .timeout import check_timeout, deadline

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from ibis.backends import BaseBackend
    from ibis.backends.sql.compilers.base import SQLGlotCompiler
    from ibis.expr.schema import Schema

    from .parquet_cells import ParquetCells

FEW_THREADS = 4
"""Up to so many threads, NumPy adds plain sums faster than DuckDB (`plan.fast_path`)."""

SETTINGS: Mapping[str, tuple[str, str]] = {
    "TimeZone": ("'UTC'", "a day begins at the same instant on every machine"),
    "Calendar": ("'gregorian'", "and a year, too"),
    "default_collation": ("''", "text is compared by its bytes"),
    "ieee_floating_point_ops": (
        "true",
        "a division by zero gives infinity or NaN, which have their rules, and no error",
    ),
    "integer_division": ("false", "/ means one thing"),
    "preserve_insertion_order": ("false", "sums of integers need no order, and memory is spared"),
    "enable_external_file_cache": (
        "false",
        "parts of a replaced file are not mixed with parts of the new one",
    ),
    "enable_progress_bar": ("false", "how far a query has come is about the data"),
    "enable_logging": ("false", "nothing is written down about a query"),
    "python_enable_replacements": (
        "false",
        "a table is the declared one, not a variable of that name",
    ),
    "autoinstall_known_extensions": ("false", "nothing is fetched"),
    "autoload_known_extensions": ("false", "nothing is loaded"),
    "allow_community_extensions": ("false", "from nobody"),
    "allow_persistent_secrets": (
        "false",
        "this engine does not read passwords in the user's home",
    ),
}
"""Setting → value and reason. `allowed_paths`, `enable_external_access` and `lock_configuration`
follow, in this order; after that no setting can change.
"""

DIRECT_BITS = 24
"""DuckDB counts integer keys that span at most 2^perfect_ht_threshold values in a plain array, one
for each thread, and others in a hash table; its default is 12. Measured with 2 threads, GROUP BY an
integer unit: 10^8 rows of 10^7 ids in 1.8 s and 510 MiB instead of 5.2 s and 1,210 MiB; 10^7 rows
of 10^6 ids in 0.13 s instead of 0.28 s. The price is an array for ids that are few but far apart:
10^6 ids spread over 2^24 took 0.53 s and 490 MiB instead of
0.39 s and 160 MiB, over 2^27 2.6 s and 3.5 GiB instead of 0.75 s. So the limit is 24 bits, and less
where the arrays of all threads (about 32 bytes a place, and they cannot be spilled) would take more
than an eighth of the memory.
"""

DUCKDB = ((1, 5), (2, 0))
"""The first supported version and the first unsupported one: connections have `to_arrow_table` from
1.5 on, and Ibis 12 does not support 2.0.
"""

_NO_LIMITS: Mapping[str, int | str] = MappingProxyType({})
_LIMITS: ContextVar[Mapping[str, int | str]] = ContextVar("_LIMITS", default=_NO_LIMITS)
_COMPILING = threading.Lock()
_LEAST = 0.001  # seconds of a time-out
_SESSION = ("enable_progress_bar",)
"""Settings of one connection. A new cursor has them off. In a Jupyter kernel without ipywidgets the
progress bar is off, and DuckDB refuses to set it, even to what it is.
"""
_PLACE = 32  # bytes of a place in such an array, with a count and two sums
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


class Changed(Exception):
    """A file or table was replaced or written while a query read it."""


class Frame(Protocol):
    """A table in memory, which the engine copies at its first query."""

    def empty(self) -> pa.Table:
        """Return an Arrow table with the columns and no rows."""

    def load(self) -> pa.Table:
        """Return the Arrow table."""


class FastSums(Protocol):
    """Sums over columns of Parquet files, without SQL."""

    def attempt(self, schema: Schema, threads: int, stopped: Callable[[], bool]) -> pa.Table | None:
        """Return the sums with this schema; None if SQL has to compute them. Secret."""


class TallyStatement(Protocol):
    """A statement of a plan: its expression, and a faster way to compute it, if there is one."""

    @property
    def expression(self) -> ir.Table: ...

    @property
    def plain(self) -> FastSums | None: ...


class Engine(ABC):
    """Runs expressions. `backend` is the Ibis connection, for building and compiling them."""

    backend: BaseBackend

    @property
    @abstractmethod
    def version(self) -> str:
        """The name and version of the engine, for the release card."""

    def sql(self, expression: ir.Expr) -> str:
        """Write the SQL text of an expression, for people to read. Nothing is run."""
        return compile_sql(self.backend, expression)

    def check_supported(self, expression: ir.Expr) -> None:
        """Refuse an expression that the engine's SQL cannot express. Callers check this before they
        charge the budget.
        """
        try:
            self.sql(expression)
        except Refused:
            raise
        except Exception:  # what Ibis says of it differs from engine to engine
            raise refusals.FUNCTION_UNSUPPORTED(engine=self.backend.name) from None

    @abstractmethod
    def check(self, timeout: float | None = None) -> None:
        """Refuse what `run` would refuse. Callers check this before they charge the budget."""

    def verify(self) -> object:
        """Return the current identity of the files or tables that are read; refuse if their columns
        are no longer the declared ones.
        """
        return None

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Run the statements of a query inside; raise Changed if a file or table changed."""
        before = self.verify()
        yield
        if self.verify() != before:
            raise Changed

    @abstractmethod
    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
        """Run the expression and return its rows as an Arrow table. Secret. A time-out, in seconds,
        interrupts the engine and raises TimeoutError.
        """

    def tally(self, statement: TallyStatement, *, timeout: float | None = None) -> pa.Table:
        """Run a statement of a plan and return an Arrow table. Secret."""
        return self.run(statement.expression, timeout=timeout)

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the engine. It cannot be used after that."""


class DuckDBEngine(Engine):
    """A DuckDB of our own, in memory, with the settings above. It reads the given files only."""

    def __init__(
        self,
        *,
        paths: Sequence[str] = (),
        attached: Mapping[str, str] | None = None,
        threads: int | None = None,
        memory: str | None = None,
    ) -> None:
        duckdb, ibis = import_duckdb(), _import("ibis")
        from .dialects.duckdb_dialect import FastDuckDBCompiler

        self._pid = os.getpid()
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._frames: dict[str, Frame] = {}
        self._paths: list[str] = []
        self._verifiers: list[Callable[[], bool]] = []
        self._verified: object = None
        self._parquet: dict[str, ParquetCells] = {}
        compiler = FastDuckDBCompiler()
        self._sql_cache = SqlCache(lambda expression: compile_sql(compiler, expression))
        self._spills = Spills()
        self.directory = self._spills.path
        options = {"temp_directory": self.directory, **_LIMITS.get()}
        options |= {
            name: value
            for name, value in (("threads", threads), ("memory_limit", memory))
            if value is not None
        }
        self.connection: DuckDBPyConnection = duckdb.connect(":memory:", config=options)
        self.backend = ibis.duckdb.from_connection(self.connection)
        for name, (value, _) in SETTINGS.items():
            # a plain SET may affect this connection only, not its cursors
            if name not in _SESSION:
                self.connection.execute(f"SET GLOBAL {name} = {value}")
            elif not _has_setting(self.connection, name, value):
                self.connection.execute(f"SET SESSION {name} = {value}")
        self._threads = int(
            self.connection.execute("SELECT current_setting('threads')").fetchall()[0][0]
        )
        self.connection.execute(
            f"SET GLOBAL perfect_ht_threshold = {_direct_bits(self.connection)}"
        )
        for name, path in (attached or {}).items():
            self._attach(name, path)
        self.connection.execute(f"SET GLOBAL allowed_paths = [{', '.join(map(quote_text, paths))}]")
        self.connection.execute("SET GLOBAL enable_external_access = false")
        self.connection.execute("SET GLOBAL lock_configuration = true")

    @property
    def version(self) -> str:
        return f"DuckDB {_import('duckdb').__version__}"

    def describe(self, relation: str) -> tuple[tuple[str, str], ...]:
        """Return the columns of a relation after FROM, with DuckDB's names of their types. No row
        is read.
        """
        return tuple(
            (name, kind)
            for name, kind, *_ in self.connection.execute(
                f"DESCRIBE SELECT * FROM {relation}"
            ).fetchall()
        )

    def register_frame(self, name: str, frame: Frame) -> tuple[tuple[str, str], ...]:
        """Register a table in memory under a name, replacing another of that name, and return its
        columns. Rows are not read yet.
        """
        copy_rows(self.connection, name, frame.empty(), "CREATE OR REPLACE TABLE")
        self._frames[name] = frame
        return self.describe(quote_name(name))

    def watch_files(self, paths: Sequence[str], still_has: Callable[[], bool]) -> None:
        """Let `verify` compare these files, too; after a change, `still_has` tells whether the
        declared columns are still there.
        """
        self._paths += paths
        self._verifiers.append(still_has)
        self._verified = file_identities(self._paths)

    def register_parquet(self, cells: ParquetCells) -> None:
        """Register a table's Parquet files, whose cells are checked before a query reads them."""
        self._parquet[cells.view] = cells

    def check(self, timeout: float | None = None) -> None:
        self._check(timeout)
        self.verify()

    def _check(self, timeout: float | None) -> None:
        check_timeout(timeout)
        if os.getpid() != self._pid:
            raise refusals.ENGINE_FORKED()
        if not self._spills.remove.alive:
            raise refusals.TABLE_CLOSED()

    def verify(self) -> object:
        current = file_identities(self._paths)
        if current != self._verified:
            if (
                not all(still_has() for still_has in self._verifiers)
                or file_identities(self._paths) != current
            ):
                raise refusals.FILES_CHANGED()
            self._verified = current
        return current

    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
        import ibis.expr.operations as ops

        self._check(timeout)
        text = self.sql(expression)
        with self._lock:  # cursors are made one at a time, used side by side
            cursor = self.connection.cursor()
        try:
            with deadline(timeout, cursor.interrupt):
                self._load(cursor)
                self._prepare(cursor, expression)
                for op in expression.op().find(ops.InMemoryTable):
                    # a temporary table of this cursor
                    copy_rows(cursor, op.name, op.data.to_pyarrow(op.schema), "CREATE TEMP TABLE")
                return cursor.execute(text).to_arrow_table()
        finally:
            cursor.close()

    def tally(self, statement: TallyStatement, *, timeout: float | None = None) -> pa.Table:
        """Run a statement by the fastest way: NumPy sums over Parquet files, or SQL."""
        plain, begun = statement.plain, time.monotonic()
        if plain is None or self._threads > FEW_THREADS:
            return self.run(statement.expression, timeout=timeout)
        self._check(timeout)
        stop = threading.Event()
        with deadline(timeout, stop.set):
            table = plain.attempt(statement.expression.schema(), self._threads, stop.is_set)
        left = None if timeout is None else max(timeout - (time.monotonic() - begun), _LEAST)
        return self.run(statement.expression, timeout=left) if table is None else table

    def _load(self, cursor: DuckDBPyConnection) -> None:
        """Copy the registered tables in memory, once. After an error nothing was copied, and the
        next run tries again.
        """
        with self._loading:
            for name in list(self._frames):
                copy_rows(cursor, name, self._frames[name].load(), "INSERT INTO")
                del self._frames[name]

    def _prepare(self, cursor: DuckDBPyConnection, expression: ir.Expr) -> None:
        """Check or copy Parquet files so that no cell of them can make the query fail."""
        import ibis.expr.operations as ops

        if self._parquet:
            fields = [
                field
                for field in expression.op().find(ops.Field)
                if isinstance(field.rel, ops.DatabaseTable)
            ]
            with self._loading:
                for op in expression.op().find(ops.DatabaseTable):
                    if op.name in self._parquet:
                        self._parquet[op.name].prepare(
                            cursor, {field.name for field in fields if field.rel.name == op.name}
                        )

    def sql(self, expression: ir.Expr) -> str:
        """Write the SQL text of this very expression."""
        return self._sql_cache.text(expression)

    def _attach(self, name: str, path: str) -> None:
        try:
            self.connection.execute(f"ATTACH {quote_text(path)} AS {quote_name(name)} (READ_ONLY)")
        except Exception:  # what DuckDB says depends on its version, and on who else has the file
            raise refusals.DATABASE_NOT_OPENED(file=os.path.basename(path)) from None

    def close(self) -> None:
        if os.getpid() == self._pid:
            self.connection.close()
        self._frames.clear()
        self._spills.remove()


@contextmanager
def limit_engines(*, threads: int, memory: int) -> Iterator[None]:
    """Limit the threads and the bytes of memory of every DuckDBEngine that is opened inside; what
    needs more is spilled. Such engines cache no files: one process may hold several, and each
    counts only its own memory.
    """
    token = _LIMITS.set(
        {"threads": threads, "memory_limit": f"{memory}B", "enable_external_file_cache": False}
    )
    try:
        yield
    finally:
        _LIMITS.reset(token)


def compile_sql(backend: BaseBackend | SQLGlotCompiler, expression: ir.Expr) -> str:
    """Compile an expression to SQL with a SELECT for each step: engines merge them faster than
    Ibis.
    """
    import ibis

    with _COMPILING:  # the option is everybody's
        before, ibis.options.sql.fuse_selects = ibis.options.sql.fuse_selects, False
        try:
            return str(backend.compile(expression, pretty=True))
        finally:
            ibis.options.sql.fuse_selects = before


def copy_rows(connection: DuckDBPyConnection, name: str, table: pa.Table, how: str) -> None:
    """Copy Arrow rows into a DuckDB table. If DuckDB scanned Arrow itself, it would push conditions
    of a query down, and Arrow cannot evaluate all of them.
    """
    connection.register("rows of arrow", table)
    connection.execute(
        f"{how} {quote_name(name)} {'' if how == 'INSERT INTO' else 'AS'} SELECT * FROM "
        f'"rows of arrow"'
    )
    connection.unregister("rows of arrow")


def file_identities(paths: Sequence[str]) -> tuple[tuple[str, int, int, int, int, int], ...]:
    """Return for each file what changes when it is replaced or written: device, inode, size and two
    times. Nobody can set back the second time, that of the inode.
    """
    identities = []
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            raise refusals.FILE_REMOVED(file=os.path.basename(path)) from None
        identities.append(
            (path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        )
    return tuple(identities)


def import_duckdb() -> ModuleType:
    """Import DuckDB; refuse a version with which releases would fail."""
    duckdb = _import("duckdb")
    version = tuple(int(part) for part in re.findall(r"\d+", duckdb.__version__)[:2])
    if not DUCKDB[0] <= version < DUCKDB[1]:
        first, last = (".".join(map(str, end)).removesuffix(".0") for end in DUCKDB)
        raise refusals.DUCKDB_VERSION_UNSUPPORTED(
            version=duckdb.__version__, first=first, last=last
        )
    return duckdb


def quote_text(text: str) -> str:
    """Quote a text for DuckDB."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Quote a name for DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def _has_setting(connection: DuckDBPyConnection, name: str, value: str) -> bool:
    """Return whether a setting has this value already."""
    [(current,)] = connection.execute(f"SELECT current_setting('{name}')").fetchall()
    return str(current).lower() == value


def _direct_bits(connection: DuckDBPyConnection) -> int:
    """Return the bits of the largest range of integer keys that DuckDB counts in an array, so that
    the arrays of all threads stay within an eighth of the memory.
    """
    [(threads, memory)] = connection.execute(
        "SELECT current_setting('threads'), current_setting('memory_limit')"
    ).fetchall()
    number, unit = memory.split()
    places = int(float(number) * 1024 ** _UNITS.index(unit) / 8 / _PLACE / threads)
    return max(12, min(DIRECT_BITS, places.bit_length() - 1))


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise refusals.PACKAGE_NOT_INSTALLED(package=name, extras="tables") from None
