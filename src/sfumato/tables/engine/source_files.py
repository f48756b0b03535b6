"""Tables in files: Parquet, CSV and DuckDB, by path, pattern or list of paths. Only names, footers
and first lines are looked at.

*Pattern*   Expanded once, when the table is declared: the files found then, in the order of their
            names, are the table.
*Parquet*   Column types are those of the footer; all files have the same.
*CSV*       See `csv_files`.
*DuckDB*    `file.duckdb::table`, attached read-only; the name of the table may be left out where
            there is one. Views are refused: a row of a view may be about many people. Generated
            columns are left out: see `volatile`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import Refused
from . import csv_files
from .duckdb_catalog import generated
from .duckdb_engine import Pinned, identifier, quoted

Kind = Literal["Parquet", "CSV", "DuckDB"]
Location = str | os.PathLike[str]

SUFFIXES: dict[str, Kind] = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".csv.gz": "CSV",
    ".tsv": "CSV",
    ".tsv.gz": "CSV",
    ".duckdb": "DuckDB",
    ".ddb": "DuckDB",
    ".db": "DuckDB",
}
"""How a path ends, and what kind of file that means."""

_PATTERN = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one kind, as the engine will read them."""

    kind: Kind
    paths: tuple[str, ...]
    name: str | None
    table: str = ""  # of DuckDB: the table in the file
    columns: tuple[str, ...] = ()  # of CSV: the first line

    @property
    def attached(self) -> dict[str, str]:
        """Databases to attach, by a name of our own."""
        return {_alias(path): path for path in self.paths} if self.kind == "DuckDB" else {}

    def relation(self, engine: Pinned) -> str:
        """What stands after FROM. Footers are read, rows are not."""
        if self.kind == "DuckDB":
            return ".".join(map(identifier, _table_in(engine, self)))
        if self.kind == "CSV":
            return csv_files.lines(self.paths, self.columns)
        _alike(engine, self)
        return _parquet(self.paths)

    def describe(self, engine: Pinned) -> tuple[tuple[str, str], ...]:
        """The columns, and DuckDB's names of their types. Of a database's table by its catalogue,
        as a generated column may not be computable here.
        """
        if self.kind != "DuckDB":
            return engine.describe(self.relation(engine))
        where = "database_name = ? AND schema_name = ? AND table_name = ?"
        asked = (
            f"SELECT column_name, data_type FROM duckdb_columns() WHERE {where} ORDER BY "
            f"column_index"
        )
        return tuple(engine.connection.execute(asked, list(_table_in(engine, self))).fetchall())

    def alike(self, engine: Pinned, described: Sequence[tuple[str, str]]) -> bool:
        """Whether files that were replaced since have the columns that were declared. A database
        that was replaced has not: the engine holds the former one.
        """
        if self.kind == "CSV":
            return csv_files.header(self.paths) == self.columns
        return self.kind == "Parquet" and self.describe(engine) == tuple(described)

    def left_out(self, engine: Pinned) -> dict[str, str]:
        """Columns of a database's table that are not stored, and why they are not read."""
        return (
            generated(engine.connection, *_table_in(engine, self)) if self.kind == "DuckDB" else {}
        )


def find_files(source: Location | Sequence[Location]) -> Files:
    """The files that a path, a pattern or a list of paths means."""
    texts = [
        _local(path) for path in ([source] if isinstance(source, str | os.PathLike) else source)
    ]
    kinds = {_kind(text) for text in texts}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is None:
        reason = (
            f"a path ends in one of {', '.join(SUFFIXES)}, all paths of a table in the same kind"
        )
        raise Refused("table.path", _shown(texts), reason, 'protect("visits.parquet", …)')
    table = ""
    if kind == "DuckDB":
        if len(texts) != 1:
            raise Refused(
                "table.path",
                _shown(texts),
                "a table lies in one database",
                'protect("clinic.duckdb::visits", …)',
            )
        path, _, table = texts[0].partition("::")
        texts = [path]
    paths = tuple(path for text in texts for path in _expanded(text))
    if kind == "DuckDB" and len(paths) != 1:
        raise Refused(
            "table.path",
            _shown(texts),
            "a table lies in one database",
            'protect("clinic.duckdb::visits", …)',
        )
    single = len(texts) == 1 and os.path.exists(texts[0])
    name = (table.rpartition(".")[2] or _stem(paths[0])) if single else None
    return Files(kind, paths, name, table, csv_files.header(paths) if kind == "CSV" else ())


def _local(path: Location) -> str:
    text = os.fspath(path)
    if not text or "\0" in text:
        raise Refused(
            "table.path",
            f"protect({text!r:.60}, …)",
            "this is not a path",
            'protect("visits.parquet", …)',
        )
    if _URL.match(text):
        raise Refused(
            "table.path",
            f"{text:.60}",
            "only files of this machine are read: the engine has no network",
            "a local copy",
        )
    return os.path.expanduser(text)


def _kind(text: str) -> Kind | None:
    name = os.path.basename(text.partition("::")[0]).lower()
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def _expanded(text: str) -> list[str]:
    """The files that a path or pattern means, as absolute paths."""
    found = (
        [text]
        if os.path.exists(text)
        else sorted(glob.glob(text, recursive=True))
        if _PATTERN.search(text)
        else []
    )
    if not found:
        raise Refused(
            "table.path", f"{text!r:.80}", "there is no such file", 'protect("visits.parquet", …)'
        )
    for path in map(os.path.abspath, found):
        if not os.path.isfile(path):
            raise Refused(
                "table.path",
                f"{path!r:.80}",
                "this is not a file",
                f"{os.path.join(text, '*.parquet')!r:.80}",
            )
        if _PATTERN.search(path):
            raise Refused(
                "table.path",
                f"{path!r:.80}",
                "the engine would take this name for a pattern",
                "a path without *, ? and [",
            )
        if not os.access(path, os.R_OK):
            raise Refused(
                "table.path",
                f"{path!r:.80}",
                "this file may not be read",
                "a file that may be read",
            )
    return [os.path.abspath(path) for path in found]


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return name[: -max(len(suffix) for suffix in SUFFIXES if name.lower().endswith(suffix))]


def _shown(texts: Sequence[str]) -> str:
    return f"protect({texts[0] if len(texts) == 1 else texts!r:.60}, …)"


def _alias(path: str) -> str:
    return f"file {path}"


def _parquet(paths: Sequence[str]) -> str:
    listed = ", ".join(map(quoted, paths))
    return (
        f"read_parquet([{listed}], hive_partitioning = false, union_by_name = false, "
        f"filename = false, file_row_number = false, binary_as_string = false)"
    )


def _alike(engine: Pinned, files: Files) -> None:
    """All footers name the same columns with the same types."""
    first = None
    for path in files.paths:
        try:
            columns = engine.describe(_parquet([path]))
        except (
            Exception
        ):  # what DuckDB says of a file that is none of its own depends on its version
            raise Refused(
                "table.file",
                f"{Path(path).name!r:.80}",
                "this file cannot be read as Parquet",
                "a Parquet file",
            ) from None
        first = first or columns
        if columns != first:
            place = f"{Path(path).name!r:.60} beside {Path(files.paths[0]).name!r:.60}"
            raise Refused(
                "table.files",
                place,
                "the files of a table have the same columns, in order and type",
                "files that were written alike",
            )


def _table_in(engine: Pinned, files: Files) -> tuple[str, str, str]:
    """Database, schema and name of the table that is meant: the one named, or the only one."""
    alias = _alias(files.paths[0])
    found = engine.connection.execute(
        (
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND "
            "NOT internal"
        ),
        [alias],
    ).fetchall()
    tables = {
        name: pair
        for pair in sorted(found)
        for name in ([pair[1]] if pair[0] == "main" else []) + [".".join(pair)]
    }
    wanted = files.table or (next(iter(tables)) if len(found) == 1 else "")
    if wanted not in tables:
        file = Path(files.paths[0]).name
        reason = (
            f"the database has no table {wanted!r:.60}; views are not tables"
            if wanted
            else "the database has not exactly one table: name the one"
        )
        raise Refused(
            "table.table",
            f"{file}::{wanted}"[:80],
            reason,
            f"{file}::{next(iter(tables), 'visits')}",
        )
    return (alias, *tables[wanted])
