"""The engine: runs one expression and returns Arrow. Either a DuckDB of our own with pinned
settings, or a connection that the owner lends (`lent`).

*Closed*    The own engine opens the files it was given and nothing else: no other file, no network,
            no extension, no setting changed later. What does not fit into memory is spilled to a
            directory that only this user can enter; it is removed on `close()`, when the
            interpreter ends, and, where that was killed, by the next one (`spills`).
*Same*      Integers come out the same for any number of threads and any order of rows: the settings
            below change how quickly, never what.
*Cursors*   Every run has a cursor of its own, so several threads may ask at once.
*Files*     A question may read a file more than once, and the bound on a unit needs the same rows
            each time. `unchanged` compares the identity of all files before and after, and a
            question during which one was replaced or written fails.
*Secret*    What `run` returns is secret, and what it raises may be, too: only the door calls it,
            and turns whatever is raised into one constant text.
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
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import Refused
from .parquet_sums import FEW_THREADS
from .spills import Spills
from .sql_cache import Written
from .timeout import deadline, known_timeout

if TYPE_CHECKING:
    from .parquet_cells import ParquetCells

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
        "parts of a file that was replaced since are not taken for parts of the new one",
    ),
    "enable_progress_bar": ("false", "how far a query has come is about the data"),
    "enable_logging": ("false", "nothing is written down about a query"),
    "python_enable_replacements": (
        "false",
        "a table is what was declared, not a variable of that name",
    ),
    "autoinstall_known_extensions": ("false", "nothing is fetched"),
    "autoload_known_extensions": ("false", "nothing is loaded"),
    "allow_community_extensions": ("false", "from nobody"),
    "allow_persistent_secrets": (
        "false",
        "passwords kept in the user's home are not for this engine",
    ),
}
"""Setting → value and reason. `allowed_paths`, `enable_external_access` and `lock_configuration`
follow, in this order, and end all setting.
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
"""The first version that runs, and the first that does not: connections have `to_arrow_table` from
1.5 on, and Ibis 12 has no words for 2.0.
"""

_LIMITS: ContextVar[Mapping[str, Any]] = ContextVar("_LIMITS", default={})  # noqa: B039  # never changed
_COMPILING = threading.Lock()
_LEAST = 0.001  # seconds of a time-out
_SESSION = ("enable_progress_bar",)  # off on every new cursor, and only settable on one
_PLACE = 32  # bytes of a place in such an array, with a count and two sums
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


class Changed(Exception):
    """Something that a question reads was replaced or written while the question ran."""


class Frame(Protocol):
    """A table in memory, which the engine copies when it is first asked."""

    def empty(self) -> Any:
        """An Arrow table with the columns and no rows."""

    def load(self) -> Any:
        """The Arrow table."""


class Engine(ABC):
    """Runs expressions. `backend` is the Ibis connection, for building and compiling them."""

    backend: Any

    @property
    @abstractmethod
    def version(self) -> str:
        """Which engine, for the release card."""

    def sql(self, expression: Any) -> str:
        """What the engine would be asked, for people to read. Nothing is run."""
        return compiled(self.backend, expression)

    def speaks(self, expression: Any) -> None:
        """Refuse what the engine's language has no words for. To be asked before anything is
        charged.
        """
        try:
            self.sql(expression)
        except Refused:
            raise
        except Exception:  # what Ibis says of it differs from engine to engine
            reason = (
                f"something in it cannot be said to {self.backend.name}: not every function can"
            )
            raise Refused(
                "engine.language",
                "release(…)",
                reason,
                "another function, or the same table as a file or a frame",
            ) from None

    @abstractmethod
    def check(self, timeout: float | None = None) -> None:
        """Refuse what `run` would refuse. To be asked before anything is charged."""

    def verify(self) -> object:
        """What identifies the files or names that are read, as they are now; refused where their
        columns are not those that were declared.
        """
        return None

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """All statements of a question run inside; Changed is raised where what they read is
        afterwards not what it was before.
        """
        before = self.verify()
        yield
        if self.verify() != before:
            raise Changed

    @abstractmethod
    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
        """The expression's rows as an Arrow table. Secret. A time-out, in seconds, interrupts the
        engine and raises TimeoutError.
        """

    def tally(self, statement: Any, *, timeout: float | None = None) -> Any:
        """What a statement of a plan gives, as an Arrow table. Secret."""
        return self.run(statement.expression, timeout=timeout)

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds. It cannot be used after that."""


class Pinned(Engine):
    """A DuckDB of our own, in memory: with the settings above, and no other file than those
    given.
    """

    def __init__(
        self,
        *,
        paths: Sequence[str] = (),
        attached: Mapping[str, str] | None = None,
        threads: int | None = None,
        memory: str | None = None,
    ) -> None:
        duckdb, ibis = known_duckdb(), _import("ibis")
        from .dialects.duckdb_dialect import Compiler

        self._pid = os.getpid()
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._frames: dict[str, Frame] = {}
        self._paths: list[str] = []
        self._verifiers: list[Callable[[], bool]] = []
        self._verified: object = None
        self._parquet: dict[str, ParquetCells] = {}
        compiler = Compiler()
        self._written = Written(lambda expression: compiled(compiler, expression))
        self._spills = Spills()
        self.directory = self._spills.path
        options = {"temp_directory": self.directory, **_LIMITS.get()}
        options |= {
            name: value
            for name, value in (("threads", threads), ("memory_limit", memory))
            if value is not None
        }
        self.connection = duckdb.connect(":memory:", config=options)
        self.backend = ibis.duckdb.from_connection(self.connection)
        for name, (value, _) in SETTINGS.items():
            scope = (
                "SESSION" if name in _SESSION else "GLOBAL"
            )  # a plain SET may hold for this connection alone, and not for its cursors
            self.connection.execute(f"SET {scope} {name} = {value}")
        self._threads = int(
            self.connection.execute("SELECT current_setting('threads')").fetchone()[0]
        )
        self.connection.execute(
            f"SET GLOBAL perfect_ht_threshold = {_direct_bits(self.connection)}"
        )
        for name, path in (attached or {}).items():
            self._attach(name, path)
        self.connection.execute(f"SET GLOBAL allowed_paths = [{', '.join(map(quoted, paths))}]")
        self.connection.execute("SET GLOBAL enable_external_access = false")
        self.connection.execute("SET GLOBAL lock_configuration = true")

    @property
    def version(self) -> str:
        return f"DuckDB {_import('duckdb').__version__}"

    def describe(self, relation: str) -> tuple[tuple[str, str], ...]:
        """The columns of what may stand after FROM, and DuckDB's names of their types. No row is
        read.
        """
        return tuple(
            (name, kind)
            for name, kind, *_ in self.connection.execute(
                f"DESCRIBE SELECT * FROM {relation}"
            ).fetchall()
        )

    def hold(self, name: str, frame: Frame) -> tuple[tuple[str, str], ...]:
        """Let a table in memory be read under a name, in place of one that had it; its columns.
        Nothing else of it is read now.
        """
        copy_rows(self.connection, name, frame.empty(), "CREATE OR REPLACE TABLE")
        self._frames[name] = frame
        return self.describe(identifier(name))

    def watch(self, paths: Sequence[str], alike: Callable[[], bool]) -> None:
        """Have `verify` compare these files, too; where one is another than before, `alike` says
        whether the columns are still those that were declared.
        """
        self._paths += paths
        self._verifiers.append(alike)
        self._verified = identities(self._paths)

    def doubt(self, cells: ParquetCells) -> None:
        """Check the cells of a table's Parquet files before a question reads them."""
        self._parquet[cells.view] = cells

    def check(self, timeout: float | None = None) -> None:
        self._check(timeout)
        self.verify()

    def _check(self, timeout: float | None) -> None:
        known_timeout(timeout)
        if os.getpid() != self._pid:
            raise Refused(
                "engine.fork",
                "release(…)",
                "a forked process has the engine's memory but not its threads",
                "protect(…) in each process",
            )
        if not self._spills.remove.alive:
            raise Refused("engine.closed", "release(…)", "the table was closed", "protect(…) again")

    def verify(self) -> object:
        found = identities(self._paths)
        if found != self._verified:
            if not all(alike() for alike in self._verifiers) or identities(self._paths) != found:
                reason = (
                    "a file was replaced, and its columns are not those that were declared, "
                    "or it is being written at this moment"
                )
                raise Refused(
                    "table.changed",
                    "release(…)",
                    reason,
                    "protect(…) again, once the file is complete",
                )
            self._verified = found
        return found

    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
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
                    copy_rows(
                        cursor, op.name, op.data.to_pyarrow(op.schema), "CREATE TEMP TABLE"
                    )  # of this cursor
                return cursor.execute(text).to_arrow_table()
        finally:
            cursor.close()

    def tally(self, statement: Any, *, timeout: float | None = None) -> Any:
        """The same by the shortest way."""
        plain, begun = statement.plain, time.monotonic()
        if plain is None or self._threads > FEW_THREADS:
            return self.run(statement.expression, timeout=timeout)
        self._check(timeout)
        stop = threading.Event()
        with deadline(timeout, stop.set):
            found = plain.attempt(statement.expression.schema(), self._threads, stop.is_set)
        left = None if timeout is None else max(timeout - (time.monotonic() - begun), _LEAST)
        return self.run(statement.expression, timeout=left) if found is None else found

    def _load(self, cursor: Any) -> None:
        """Copy the tables in memory, once. If that ends in an error, nothing was copied, and the
        next run tries again.
        """
        with self._loading:
            for name in list(self._frames):
                copy_rows(cursor, name, self._frames[name].load(), "INSERT INTO")
                del self._frames[name]

    def _prepare(self, cursor: Any, expression: Any) -> None:
        """See to it that no cell of a Parquet file can end the question."""
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

    def sql(self, expression: Any) -> str:
        """The text of this very expression."""
        return self._written.text(expression)

    def _attach(self, name: str, path: str) -> None:
        try:
            self.connection.execute(f"ATTACH {quoted(path)} AS {identifier(name)} (READ_ONLY)")
        except Exception:  # what DuckDB says depends on its version, and on who else has the file
            reason = (
                "this file is no DuckDB database that can be opened to be read: somebody may "
                "be writing to it"
            )
            raise Refused(
                "table.file",
                f"{os.path.basename(path)!r:.80}",
                reason,
                "a database that nobody writes to",
            ) from None

    def close(self) -> None:
        if os.getpid() == self._pid:
            self.connection.close()
        self._frames.clear()
        self._spills.remove()


@contextmanager
def limited(*, threads: int, memory: int) -> Iterator[None]:
    """Engines of our own that are opened inside have so many threads, and so many bytes of memory:
    what needs more is spilled. They keep nothing of files that they have read: several of them may
    lie in one process, and each knows only of its own memory.
    """
    token = _LIMITS.set(
        {"threads": threads, "memory_limit": f"{memory}B", "enable_external_file_cache": False}
    )
    try:
        yield
    finally:
        _LIMITS.reset(token)


def compiled(backend: Any, expression: Any) -> str:
    """An expression as a statement, with a SELECT for each of its steps: to make one of several is
    up to engines, which do it faster than Ibis.
    """
    import ibis

    with _COMPILING:  # the option is everybody's
        before, ibis.options.sql.fuse_selects = ibis.options.sql.fuse_selects, False
        try:
            return str(backend.compile(expression, pretty=True))
        finally:
            ibis.options.sql.fuse_selects = before


def copy_rows(connection: Any, name: str, table: Any, how: str) -> None:
    """Rows of Arrow as rows of DuckDB. Were Arrow itself asked, DuckDB would hand it the conditions
    of a query, and Arrow cannot answer all of them.
    """
    connection.register("rows of arrow", table)
    connection.execute(
        f"{how} {identifier(name)} {'' if how == 'INSERT INTO' else 'AS'} SELECT * FROM "
        f'"rows of arrow"'
    )
    connection.unregister("rows of arrow")


def identities(paths: Sequence[str]) -> tuple[tuple[str, int, int, int, int, int], ...]:
    """Of each file what changes when it is replaced or written: device, inode, size and two times.
    The second one, of the inode, nobody can set back.
    """
    found = []
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            raise Refused(
                "table.path",
                f"{os.path.basename(path)!r:.80}",
                "this file was declared and is not there any more",
                "protect(…) again",
            ) from None
        found.append(
            (path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        )
    return tuple(found)


def known_duckdb() -> Any:
    """DuckDB; refused in a version with which releases would fail."""
    duckdb = _import("duckdb")
    version = tuple(int(part) for part in re.findall(r"\d+", duckdb.__version__)[:2])
    if not DUCKDB[0] <= version < DUCKDB[1]:
        first, last = (".".join(map(str, end)).removesuffix(".0") for end in DUCKDB)
        reason = f"releases are tested with DuckDB from {first} on and before {last}"
        raise Refused(
            "engine.version",
            f"DuckDB {duckdb.__version__}",
            reason,
            f"pip install 'duckdb>={first},<{last}'",
        )
    return duckdb


def quoted(text: str) -> str:
    """A text as DuckDB reads it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as DuckDB reads it."""
    return '"' + name.replace('"', '""') + '"'


def _direct_bits(connection: Any) -> int:
    """Bits of the largest range of integer keys that is counted in an array, so that all threads'
    arrays stay within an eighth of the memory.
    """
    threads, memory = connection.execute(
        "SELECT current_setting('threads'), current_setting('memory_limit')"
    ).fetchone()
    number, unit = memory.split()
    places = int(float(number) * 1024 ** _UNITS.index(unit) / 8 / _PLACE / threads)
    return max(12, min(DIRECT_BITS, places.bit_length() - 1))


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Refused(
            "engine.missing",
            "protect(…)",
            f"{name} is not installed",
            "pip install 'sfumato[tables]'",
        ) from None
