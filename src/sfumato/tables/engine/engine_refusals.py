"""The refusals of `tables.engine`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

ENGINE_BUSY_1 = RefusalText(
    "engine.busy",
    "release(…)",
    "the owner's connection is inside a transaction",
    "a connection with autocommit=True",
)
ENGINE_CAPABILITY_1 = RefusalText(
    "engine.capability",
    "a connection to {version:.60}",
    "{reason}",
    "a connection with the engine's own settings, or the table as a Parquet file",
)
ENGINE_CLOSED_1 = RefusalText(
    "engine.closed",
    "release(…)",
    "the table was closed",
    "call protect() again",
)
ENGINE_CLOSED_2 = RefusalText(
    "engine.closed",
    "release(…)",
    "the connection was closed",
    "call protect() again",
)
ENGINE_CLOSED_3 = RefusalText(
    "engine.closed",
    "release(…)",
    "the session was stopped",
    "call protect() again",
)
ENGINE_CONNECTION_1 = RefusalText(
    "engine.connection",
    'protect("postgresql://…")',
    "the server cannot be reached, or rejects this role",
    "the URL that psql takes: postgresql://role@host/database",
)
ENGINE_FORK_1 = RefusalText(
    "engine.fork",
    "release(…)",
    "a forked process has the engine's memory but not its threads",
    "call protect() again in each process",
)
ENGINE_FORK_2 = RefusalText(
    "engine.fork",
    "release(…)",
    "a forked process shares the connection with its parent",
    "call protect() again in each process",
)
ENGINE_LANGUAGE_1 = RefusalText(
    "engine.language",
    "TRY_CAST(… AS decimal({precision},{scale}))",
    "{reason}",
    "TRY_CAST(… AS decimal({MOST_DIGITS},{scale_2}))",
)
ENGINE_LANGUAGE_2 = RefusalText(
    "engine.language",
    "release(…)",
    "{name} does not support a function of this query",
    "another function, or the same table as a file or a frame",
)
ENGINE_MISSING_1 = RefusalText(
    "engine.missing",
    "protect(…)",
    "{name} is not installed",
    "pip install 'sfumato[tables]'",
)
ENGINE_MISSING_2 = RefusalText(
    "engine.missing",
    "protect(…)",
    "{driver} is not installed",
    "pip install 'sfumato[{extras}]'",
)
ENGINE_TIMEOUT_1 = RefusalText(
    "engine.timeout",
    "timeout={timeout!s:.60}",
    "a time-out is a number of seconds above zero",
    "timeout=60",
)
ENGINE_UNKNOWN_1 = RefusalText(
    "engine.unknown",
    "a connection of Ibis to {name!r:.40}",
    "{reason}",
    (
        'protect(connection.table("visits").to_pyarrow(), name="visits", unit="user_id", '
        'budget=1), or protect("visits.parquet", unit="user_id", budget=1)'
    ),
)
ENGINE_VERSION_1 = RefusalText(
    "engine.version",
    "DuckDB {version}",
    "sfumato supports DuckDB from {first} on and before {last}",
    "pip install 'duckdb>={first},<{last}'",
)
ENGINE_VERSION_2 = RefusalText(
    "engine.version",
    "PostgreSQL {value}",
    "{reason}",
    "PostgreSQL 16 or later",
)
ENGINE_VERSION_3 = RefusalText(
    "engine.version",
    "the database's encoding",
    "texts are compared by the bytes of UTF-8",
    "a database with ENCODING 'UTF8'",
)
TABLE_CAST_1 = RefusalText(
    "table.cast",
    "types={{{name!r:.60}: '{target}'}}",
    "{reason}",
    "'{have}', or a column computed in the database",
)
TABLE_CAST_2 = RefusalText(
    "table.cast",
    "{name!r:.60}: {dtype}",
    "{reason}",
    "a column of microseconds, computed in the database",
)
TABLE_CAST_3 = RefusalText(
    "table.cast",
    "types={{{column!r:.60}: '{kind}'}}",
    "the column is {words}, which cannot be cast to {words_2}",
    "'{have}', the type it has",
)
TABLE_CHANGED_1 = RefusalText(
    "table.changed",
    "release(…)",
    "a file was replaced and no longer has the declared columns, or is being written now",
    "call protect() again once the file is complete",
)
TABLE_CHANGED_2 = RefusalText(
    "table.changed",
    "{place!r:.60}",
    "the table was altered or replaced, and no longer has the declared columns",
    "call protect() again",
)
TABLE_COLUMNS_1 = RefusalText(
    "table.columns",
    "protect(Table, …)",
    "two columns have the same name",
    "table.rename_columns(['user_id', 'city', 'spend'])",
)
TABLE_COLUMNS_2 = RefusalText(
    "table.columns",
    "protect(DataFrame, …)",
    "column names are different texts",
    "df.columns = ['user_id', 'city', 'spend']",
)
TABLE_COLUMNS_3 = RefusalText(
    "table.columns",
    "column {NUMBER!r}",
    "DuckDB uses this name for the row numbers of a Parquet file",
    "a file with the column renamed from {NUMBER} to row",
)
TABLE_COLUMNS_4 = RefusalText(
    "table.columns",
    "protect({name!r:.60})",
    "the table has no column of a supported type",
    "a table of numbers, texts and dates",
)
TABLE_ENGINES_1 = RefusalText(
    "table.engines",
    "protect({{…}}, …)",
    "tables protected together are read by one engine",
    "only files and frames, or only tables of one Ibis connection",
)
TABLE_FILE_1 = RefusalText(
    "table.file",
    "{name!r:.80}",
    "a CSV file has at most {MOST_COLUMNS} columns",
    "a Parquet file",
)
TABLE_FILE_2 = RefusalText(
    "table.file",
    "{name!r:.80}",
    "the first line does not name the columns",
    "a first line like user_id,city,spend",
)
TABLE_FILE_3 = RefusalText(
    "table.file",
    "{name!r:.80}",
    "the first line is not UTF-8; the file has another encoding, such as Latin-1",
    "iconv -f LATIN1 -t UTF-8 visits.csv > visits-utf8.csv, and that file",
)
TABLE_FILE_4 = RefusalText(
    "table.file",
    "{path!r:.80}",
    (
        "the file cannot be opened as a DuckDB database: it may be of another kind, or another "
        "process writes to it"
    ),
    "a copy of the database that no process writes to",
)
TABLE_FILE_5 = RefusalText(
    "table.file",
    "{name!r:.80}",
    "this file cannot be read as Parquet",
    "a Parquet file",
)
TABLE_FILES_1 = RefusalText(
    "table.files",
    "{name!r:.60} and {name_2!r:.60}",
    "the files of a table have the same first line",
    "files that were written alike",
)
TABLE_FILES_2 = RefusalText(
    "table.files",
    "{name!r:.60} and {name_2!r:.60}",
    "the files of a table have the same columns, in order and type",
    "files that were written alike",
)
TABLE_PATH_1 = RefusalText(
    "table.path",
    "{path!r:.80}",
    "this file was declared and no longer exists",
    "call protect() again",
)
TABLE_PATH_2 = RefusalText(
    "table.path",
    "{texts}",
    "a path ends in one of {SUFFIXES}, and all files of a table are of one kind",
    "{EXAMPLE}",
)
TABLE_PATH_3 = RefusalText(
    "table.path",
    "{texts}",
    "a table lies in one database",
    'protect("clinic.duckdb::visits", unit="user_id", budget=1)',
)
TABLE_PATH_4 = RefusalText(
    "table.path",
    "protect({text!r:.60}, …)",
    "this is not a path",
    "{EXAMPLE}",
)
TABLE_PATH_5 = RefusalText(
    "table.path",
    "{text:.60}",
    "only local files are read: the engine has no network",
    "a local copy",
)
TABLE_PATH_6 = RefusalText(
    "table.path",
    "{text!r:.80}",
    "there is no such file",
    "{EXAMPLE}",
)
TABLE_PATH_7 = RefusalText(
    "table.path",
    "{path!r:.80}",
    "this is not a file",
    "{text!r:.80}",
)
TABLE_PATH_8 = RefusalText(
    "table.path",
    "{path!r:.80}",
    "the engine would read this name as a pattern",
    "a path without *, ? and [",
)
TABLE_PATH_9 = RefusalText(
    "table.path",
    "{path!r:.80}",
    "this user may not read the file",
    "a file that this user may read",
)
TABLE_SOURCE_1 = RefusalText(
    "table.source",
    "{name!r:.60}",
    "{reason}",
    "{rewrite}",
)
TABLE_SOURCE_2 = RefusalText(
    "table.source",
    "protect(LazyFrame, …)",
    "a lazy frame is a query, not a table",
    'protect(frame.collect(), name="visits", unit="user_id", budget=1)',
)
TABLE_SOURCE_3 = RefusalText(
    "table.source",
    "protect(RecordBatchReader, …)",
    "a reader can be read once, and queries read a table many times",
    'protect(reader.read_all(), name="visits", unit="user_id", budget=1)',
)
TABLE_SOURCE_4 = RefusalText(
    "table.source",
    "{place}",
    "a table is {KINDS_OF_SOURCE}",
    'protect("visits.parquet", unit="user_id", budget=1)',
)
TABLE_SOURCE_5 = RefusalText(
    "table.source",
    "{place}",
    "this is a query, whose rows may be about many people, not a table of a connection",
    'protect(connection.table("visits"), unit="user_id", budget=1), then where()',
)
TABLE_SOURCE_6 = RefusalText(
    "table.source",
    "{place}",
    "a DuckDB relation or connection is not a table",
    'protect(ibis.duckdb.from_connection(connection).table("visits"), unit="user_id", budget=1)',
)
TABLE_SOURCE_7 = RefusalText(
    "table.source",
    "{place}",
    "a session of Spark Connect does not show its plan",
    "a classic Spark session, or a Parquet file",
)
TABLE_SOURCE_8 = RefusalText(
    "table.source",
    "{place}",
    "the step {step} is not on the list of safe steps: {REASON}",
    "{REWRITE}",
)
TABLE_SOURCE_9 = RefusalText(
    "table.source",
    "{place}",
    (
        "column {column!r:.60} is stored in milliseconds, and Spark fails on a value that "
        "microseconds cannot hold"
    ),
    "{STORED}; or frame.drop({column!r:.60})",
)
TABLE_TABLE_1 = RefusalText(
    "table.table",
    "table={table!r:.60}",
    "table= is for a database URL; this source is one table",
    "the same call without table=",
)
TABLE_TABLE_2 = RefusalText(
    "table.table",
    "table={table!r:.60}",
    "{reason}",
    'a table: table="visits", or table="clinic.visits"',
)
TABLE_TABLE_3 = RefusalText(
    "table.table",
    'protect("postgresql://…")',
    "the database has no table, or several: name one",
    'table="visits"',
)
TABLE_TABLE_4 = RefusalText(
    "table.table",
    "{value}",
    "{reason}",
    "{file}::{next}",
)
TABLE_TYPE_1 = RefusalText(
    "table.type",
    "types={types!s:.60}",
    "types maps columns to types",
    'types={{"spend": "float"}}',
)
