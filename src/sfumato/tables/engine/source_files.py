"""Find tables in Parquet, CSV and DuckDB files, by path, pattern or list of paths. Only file names,
footers and first lines are read.

*Pattern*   Expanded once, when the table is declared: the files that exist then, in the order of
            their names, are the table.
*Parquet*   Column types are those of the footer; all files have the same.
*CSV*       See `csv_files`.
*DuckDB*    `file.duckdb::table`, attached read-only; the name of the table may be left out where
            there is one. Views are refused: a row of a view may be about many people. Generated
            columns are left out: see `duckdb_catalog`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import csv_files
from . import engine_refusals as refusals
from .duckdb_catalog import generated_columns
from .duckdb_engine import DuckDBEngine, quote_name, quote_text

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
"""The end of a path → the kind of file."""

_PATTERN = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one table, all of one kind."""

    kind: Kind
    paths: tuple[str, ...]
    name: str | None
    table: str = ""  # of DuckDB: the table in the file
    columns: tuple[str, ...] = ()  # of CSV: the first line

    @property
    def attached(self) -> dict[str, str]:
        """The databases to attach, by the name that the engine gives them."""
        return {_alias(path): path for path in self.paths} if self.kind == "DuckDB" else {}

    def relation(self, engine: DuckDBEngine) -> str:
        """Write the relation after FROM. This reads footers, not rows."""
        if self.kind == "DuckDB":
            return ".".join(map(quote_name, _table_in(engine, self)))
        if self.kind == "CSV":
            return csv_files.lines_query(self.paths, self.columns)
        _check_same_columns(engine, self)
        return _parquet(self.paths)

    def describe(self, engine: DuckDBEngine) -> tuple[tuple[str, str], ...]:
        """Return the columns with DuckDB's names of their types. For a table of a database they
        come from the catalogue: a generated column may not be computable here.
        """
        if self.kind != "DuckDB":
            return engine.describe(self.relation(engine))
        where = "database_name = ? AND schema_name = ? AND table_name = ?"
        query = (
            f"SELECT column_name, data_type FROM duckdb_columns() WHERE {where} ORDER BY "
            f"column_index"
        )
        return tuple(engine.connection.execute(query, list(_table_in(engine, self))).fetchall())

    def still_has(self, engine: DuckDBEngine, described: Sequence[tuple[str, str]]) -> bool:
        """Whether replaced files still have the declared columns. A replaced database never does:
        the engine holds the former file open.
        """
        if self.kind == "CSV":
            return csv_files.read_header(self.paths) == self.columns
        return self.kind == "Parquet" and self.describe(engine) == tuple(described)

    def left_out(self, engine: DuckDBEngine) -> dict[str, str]:
        """Return the generated columns of a database table, with the reason to leave them out."""
        return (
            generated_columns(engine.connection, *_table_in(engine, self))
            if self.kind == "DuckDB"
            else {}
        )


def find_files(source: Location | Sequence[Location]) -> Files:
    """Find the files of a path, a pattern or a list of paths."""
    texts = [
        _local_path(path)
        for path in ([source] if isinstance(source, str | os.PathLike) else source)
    ]
    kind = _kind_of_all(texts)
    table = ""
    if kind == "DuckDB":
        if len(texts) != 1:
            raise refusals.SEVERAL_DATABASES(source=_shown(texts))
        path, _, table = texts[0].partition("::")
        texts = [path]
    paths = tuple(path for text in texts for path in _expand(text))
    if kind == "DuckDB" and len(paths) != 1:
        raise refusals.SEVERAL_DATABASES(source=_shown(texts))
    single = len(texts) == 1 and os.path.exists(texts[0])
    name = (table.rpartition(".")[2] or _stem(paths[0])) if single else None
    return Files(kind, paths, name, table, csv_files.read_header(paths) if kind == "CSV" else ())


def _local_path(path: Location) -> str:
    text = os.fspath(path)
    if not text or "\0" in text:
        raise refusals.NOT_A_PATH(path=text)
    if _URL.match(text):
        raise refusals.PATH_NOT_LOCAL(path=text)
    return os.path.expanduser(text)


def _kind_of_all(texts: Sequence[str]) -> Kind:
    """Return the kind that all files share."""
    kinds = {kind for text in texts if (kind := _kind(text))}
    if not all(map(_kind, texts)) or not kinds:
        raise refusals.SUFFIX_UNKNOWN(source=_shown(texts), suffixes=", ".join(SUFFIXES))
    if len(kinds) > 1:
        raise refusals.FILE_KINDS_MIXED(source=_shown(texts), kinds=" and ".join(sorted(kinds)))
    return kinds.pop()


def _kind(text: str) -> Kind | None:
    name = os.path.basename(text.partition("::")[0]).lower()
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def _expand(text: str) -> list[str]:
    """Return the files of a path or pattern, as absolute paths."""
    paths = (
        [text]
        if os.path.exists(text)
        else sorted(glob.glob(text, recursive=True))
        if _PATTERN.search(text)
        else []
    )
    if not paths:
        raise refusals.NO_SUCH_FILE(path=text)
    for path in map(os.path.abspath, paths):
        if not os.path.isfile(path):
            raise refusals.PATH_IS_NO_FILE(path=path, pattern=os.path.join(text, "*.parquet"))
        if _PATTERN.search(path):
            raise refusals.PATH_LOOKS_LIKE_PATTERN(path=path)
        if not os.access(path, os.R_OK):
            raise refusals.FILE_NOT_READABLE(path=path)
    return [os.path.abspath(path) for path in paths]


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return name[: -max(len(suffix) for suffix in SUFFIXES if name.lower().endswith(suffix))]


def _shown(texts: Sequence[str]) -> str | Sequence[str]:
    """Return what the owner wrote: a list of one path is shown as the path."""
    return texts[0] if len(texts) == 1 else texts


def _alias(path: str) -> str:
    return f"file {path}"


def _parquet(paths: Sequence[str]) -> str:
    listed = ", ".join(map(quote_text, paths))
    return (
        f"read_parquet([{listed}], hive_partitioning = false, union_by_name = false, "
        f"filename = false, file_row_number = false, binary_as_string = false)"
    )


def _check_same_columns(engine: DuckDBEngine, files: Files) -> None:
    """Refuse Parquet files whose footers differ in columns or types."""
    first = None
    for path in files.paths:
        try:
            columns = engine.describe(_parquet([path]))
        except Exception:  # the type of DuckDB's error depends on its version
            raise refusals.NOT_PARQUET(file=Path(path).name) from None
        first = first or columns
        if columns != first:
            raise refusals.PARQUET_COLUMNS_DIFFER(
                file=Path(path).name, first_file=Path(files.paths[0]).name
            )


def _table_in(engine: DuckDBEngine, files: Files) -> tuple[str, str, str]:
    """Find database, schema and name of the named table, or of the only table."""
    alias = _alias(files.paths[0])
    rows = engine.connection.execute(
        (
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND "
            "NOT internal"
        ),
        [alias],
    ).fetchall()
    tables = {
        name: pair
        for pair in sorted(rows)
        for name in ([pair[1]] if pair[0] == "main" else []) + [".".join(pair)]
    }
    table = files.table or (next(iter(tables)) if len(rows) == 1 else "")
    if table not in tables:
        file = Path(files.paths[0]).name
        example = f"{file}::{next(iter(tables), 'visits')}"
        if not table:
            raise refusals.TABLE_OF_FILE_NOT_NAMED(file=file, tables=len(rows), example=example)
        raise refusals.TABLE_NOT_IN_FILE(source=f"{file}::{table}", table=table, example=example)
    return (alias, *tables[table])
