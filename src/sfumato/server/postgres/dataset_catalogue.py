"""The catalogue of a dataset: an engine in memory with empty statistics about the declared schema.

*Empty*    It holds names and types of declarations, and no data. It opens no file, and no other
           engine.
*Bounded*  A query runs for at most two seconds of one thread, in at most 128 MiB.
"""

from __future__ import annotations

import asyncio
import datetime
import threading
import time
from collections.abc import Callable

import duckdb

from ... import __version__
from ...errors import Refused
from ...exact import effort
from ...session.protected_database import Database
from ..datasets import Served
from ..http.problems import Problem, ProblemError
from . import wire_refusals as refusals
from .catalogue_columns import column_names, definitions
from .catalogue_functions import macro_definitions
from .catalogue_rewrite import Values, rewrite
from .catalogue_tables import CatalogTable, contents
from .wire_results import WireColumn, WireResult
from .wire_statements import WireStatement
from .wire_types import BOOL, FLOAT8, INT4, INT8, INT8_LIST, TEXT, TEXT_LIST, Cell

SECONDS = 2.0
MOST_ROWS = 100_000
_TYPES = {
    "BOOLEAN": BOOL,
    "INTEGER": INT4,
    "BIGINT": INT8,
    "HUGEINT": INT8,
    "DOUBLE": FLOAT8,
    "VARCHAR[]": TEXT_LIST,
    "BIGINT[]": INT8_LIST,
}
Answers = Callable[[str, list[str]], str | None]


class Catalogue:
    """The catalogue of one dataset in one process."""

    def __init__(self, served: Served) -> None:
        tables = _declared_tables(served)
        self.dataset = served.name
        self.protected = frozenset(table.name for table in tables)
        self._lock = threading.Lock()
        self._engine = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "memory_limit": "128MB",
                "max_temp_directory_size": "0MB",
                "enable_external_access": "false",
            },
        )
        for statement in (*definitions(), *macro_definitions()):
            self._engine.execute(statement)
        for name, record in contents(served.name, tables):
            places = ", ".join("?" for _ in column_names(name))
            cells = [record.get(column) for column in column_names(name)]
            self._engine.execute(f'INSERT INTO "{name}" VALUES ({places})', cells)
        self._engine.execute("SET lock_configuration = true")

    def close(self) -> None:
        self._engine.close()

    async def run(
        self,
        statement: WireStatement,
        parameters: Values,
        answers: Answers,
        *,
        count: Callable[[float], object] = lambda _: None,
        only_columns: bool = False,
    ) -> WireResult:
        """Answer a query of the catalogue, or only its columns. `count` gets the processor time."""
        return await asyncio.to_thread(
            self._run_timed, statement.text, parameters, answers, count, only_columns=only_columns
        )

    def _run_timed(
        self,
        sql: str,
        parameters: Values,
        answers: Answers,
        count: Callable[[float], object],
        *,
        only_columns: bool,
    ) -> WireResult:
        begun = time.thread_time()
        try:
            return self._run(sql, parameters, answers, only_columns=only_columns)
        finally:
            count(time.thread_time() - begun)

    def _run(
        self, sql: str, parameters: Values, answers: Answers, *, only_columns: bool
    ) -> WireResult:
        with effort.limited(SECONDS):
            text = rewrite(sql, parameters, answers)
        with self._lock:
            cursor = self._engine.cursor()
            timer = threading.Timer(SECONDS, cursor.interrupt)
            timer.start()
            try:
                if only_columns:
                    text = f"SELECT * FROM ({text}) LIMIT 0"
                cursor.execute(text)
                described = cursor.description or []
                fetched = cursor.fetchmany(MOST_ROWS)
            except (duckdb.Error, RuntimeError):
                raise ProblemError(Problem.of(refusals.CATALOG_UNSUPPORTED())) from None
            finally:
                timer.cancel()
                cursor.close()
        columns = tuple(
            WireColumn(name, _TYPES.get(str(kind), TEXT)) for name, kind, *_ in described
        )
        rows = [tuple(map(_cell, row)) for row in fetched]
        return WireResult(tag="SELECT", columns=columns, rows=rows)


def session_answers(user: str, dataset: str, show: Callable[[str], str]) -> Answers:
    """Return what the functions about a session say."""

    def answer(name: str, arguments: list[str]) -> str | None:
        if name == "set_config":
            return arguments[1] if len(arguments) > 1 else None
        if name == "current_setting":
            try:
                return show(arguments[0]) if arguments else None
            except Refused:
                return None
        return {
            "version": f"PostgreSQL 15.6 (sfumato {__version__})",
            "current_schema": "public",
            "current_database": dataset,
            "current_catalog": dataset,
        }.get(name, user)

    return answer


def _declared_tables(served: Served) -> list[CatalogTable]:
    tables = [
        CatalogTable(declared.name, dict(declared.types), about=served.config.about)
        for declared in served.declarations
    ]
    if isinstance(served.table, Database):
        tables += [
            CatalogTable(name, dict(rows.schema)) for name, rows in served.table.public.items()
        ]
    return tables


def _cell(value: object) -> Cell:
    """Return a cell of the engine for the wire; lists as PostgreSQL writes arrays."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return "{" + ",".join(map(_element, value)) + "}"
        case datetime.datetime():
            return value.isoformat(sep=" ")
    return str(value)


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    text = str(value)
    if text and text.replace("_", "").replace("-", "").isalnum() and text.lower() != "null":
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
