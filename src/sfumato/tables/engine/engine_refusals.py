"""The refusals of `tables.engine`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText, install_command

_PROTECT_FILE = 'protect("visits.parquet", unit="user_id", budget=1)'
_PROTECT_ROWS = (
    'protect(connection.table("visits").to_pyarrow(), name="visits", unit="user_id", budget=1)'
)
_STORE_VIEW = (
    'protect(connection.create_table("visits_stored", connection.table({table!r:.200})), '
    'unit="user_id", budget=1)'
)
_STORE_SPARK_FRAME = (
    'frame.write.parquet("visits"); protect(spark.read.parquet("visits"), unit="user_id", budget=1)'
)
_TWO_READS = (
    "; a query reads the rows twice, to count them and to sum them, and both reads must see the "
    "same rows"
)

# Packages and versions

PACKAGE_NOT_INSTALLED = RefusalText(
    "engine.missing",
    "protect(…)",
    "{package} is not installed",
    install_command("{extras}"),
)
DUCKDB_VERSION_UNSUPPORTED = RefusalText(
    "engine.version",
    "DuckDB {version}",
    "sfumato supports DuckDB from {first} on and before {last}",
    "pip install 'duckdb>={first},<{last}'",
)
POSTGRES_TOO_OLD = RefusalText(
    "engine.version",
    "PostgreSQL {version}",
    (
        "servers before 16 cannot test a text before they cast it, and a failed cast would reveal "
        "data"
    ),
    "upgrade the server to PostgreSQL 16 or later",
)
DATABASE_NOT_UTF8 = RefusalText(
    "engine.version",
    "the database's encoding",
    "the database is not in UTF-8, and texts are compared by the bytes of UTF-8",
    "CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0",
)
CLIENT_NOT_UTF8 = RefusalText(
    "engine.version",
    "the connection's encoding",
    "the connection is not in UTF-8, and texts are compared by the bytes of UTF-8",
    "SET client_encoding TO 'UTF8'",
)

# Connections

ENGINE_UNSUPPORTED = RefusalText(
    "engine.unknown",
    "an Ibis connection to {engine!r:.40}",
    (
        "{engine:.40} is not supported: its sums may overflow, and an expression may fail on one "
        "row and so reveal it"
    ),
    _PROTECT_ROWS,
)
CONNECTION_COMPUTES_WRONGLY = RefusalText(
    "engine.capability",
    "a connection to {version:.60}",
    "this connection computes {check} wrongly, so an answer could reveal one row",
    _PROTECT_ROWS,
)
SERVER_UNREACHABLE = RefusalText(
    "engine.connection",
    'protect("postgresql://…")',
    "the server cannot be reached, or rejects this role; psql has to accept the same URL",
    (
        'protect("postgresql://role@localhost:5432/database", table="visits", unit="user_id", '
        "budget=1)"
    ),
)
CONNECTION_IN_TRANSACTION = RefusalText(
    "engine.busy",
    "release(…)",
    "the owner's connection is inside a transaction",
    (
        'ibis.postgres.from_connection(psycopg.connect("postgresql://role@localhost:5432/database",'
        " autocommit=True))"
    ),
)
TABLE_CLOSED = RefusalText(
    "engine.closed",
    "release(…)",
    "the table was closed",
    "call protect() again",
)
CONNECTION_CLOSED = RefusalText(
    "engine.closed",
    "release(…)",
    "the connection was closed",
    "call protect() again",
)
SPARK_SESSION_STOPPED = RefusalText(
    "engine.closed",
    "release(…)",
    "the Spark session was stopped",
    "call protect() again",
)
ENGINE_FORKED = RefusalText(
    "engine.fork",
    "release(…)",
    "a forked process has the engine's memory but not its threads",
    "call protect() again in each process",
)
CONNECTION_FORKED = RefusalText(
    "engine.fork",
    "release(…)",
    "a forked process shares the connection with its parent",
    "call protect() again in each process",
)
TIMEOUT_NOT_POSITIVE = RefusalText(
    "engine.timeout",
    "timeout={timeout!s:.60}",
    "a time-out is a number of seconds above zero",
    "timeout=60",
)

# Functions that an engine lacks

FUNCTION_UNSUPPORTED = RefusalText(
    "engine.language",
    "release(…)",
    "{engine} does not support a function of this query",
    _PROTECT_ROWS,
)
LOG2_NOT_IN_POSTGRES = RefusalText(
    "engine.language",
    "log2(…)",
    "PostgreSQL has no logarithm to base 2 of floats",
    "ln(spend) / ln(2)",
)
DECIMAL_TOO_LONG_FOR_POSTGRES = RefusalText(
    "engine.language",
    "TRY_CAST(… AS decimal({precision},{scale}))",
    "PostgreSQL casts a float to 15 decimal digits and rounds the others",
    "TRY_CAST(spend AS decimal({most_digits},{most_scale}))",
)
DECIMAL_TOO_LONG_FOR_SPARK = RefusalText(
    "engine.language",
    "TRY_CAST(… AS decimal({precision},{scale}))",
    "Spark casts a float by its text, and rounds digits that the text does not have",
    "TRY_CAST(spend AS decimal({most_digits},{most_scale}))",
)

# Paths

NOT_A_PATH = RefusalText(
    "table.path",
    "protect({path!r:.60}, …)",
    "this is not a path",
    _PROTECT_FILE,
)
PATH_NOT_LOCAL = RefusalText(
    "table.path",
    "protect({path!r:.60}, …)",
    "the engine has no network: it reads local files only, so download the file first",
    _PROTECT_FILE,
)
SUFFIX_UNKNOWN = RefusalText(
    "table.path",
    "protect({source!r:.60}, …)",
    "a path ends in one of {suffixes}",
    _PROTECT_FILE,
)
FILE_KINDS_MIXED = RefusalText(
    "table.path",
    "protect({source!r:.60}, …)",
    "the files of a table are of one kind, and these are {kinds}",
    'protect(["2025.parquet", "2026.parquet"], name="visits", unit="user_id", budget=1)',
)
SEVERAL_DATABASES = RefusalText(
    "table.path",
    "protect({source!r:.60}, …)",
    "a table lies in one database",
    'protect("clinic.duckdb::visits", unit="user_id", budget=1)',
)
NO_SUCH_FILE = RefusalText(
    "table.path",
    "{path!r:.80}",
    "there is no such file",
    _PROTECT_FILE,
)
PATH_IS_NO_FILE = RefusalText(
    "table.path",
    "{path!r:.80}",
    "this is not a file",
    'protect({pattern!r:.200}, name="visits", unit="user_id", budget=1)',
)
PATH_LOOKS_LIKE_PATTERN = RefusalText(
    "table.path",
    "{path!r:.80}",
    "the engine would read this name as a pattern",
    "rename the file or its folder without *, ? and [",
)
FILE_NOT_READABLE = RefusalText(
    "table.path",
    "{path!r:.80}",
    "this user may not read the file",
    "let this user read the file",
)
FILE_REMOVED = RefusalText(
    "table.path",
    "{file!r:.80}",
    "this file was declared and no longer exists",
    "call protect() again",
)

# Files

CSV_HEADER_MISSING = RefusalText(
    "table.file",
    "{file!r:.80}",
    "the first line does not name the columns",
    "sed -i '1i user_id,city,spend' visits.csv",
)
CSV_NOT_UTF8 = RefusalText(
    "table.file",
    "{file!r:.80}",
    "the first line is not UTF-8; the file has another encoding, such as Latin-1",
    "iconv -f LATIN1 -t UTF-8 visits.csv > visits-utf8.csv",
)
CSV_TOO_WIDE = RefusalText(
    "table.file",
    "{file!r:.80}",
    "the file has {columns} columns, and a CSV file has at most {most}",
    _PROTECT_FILE,
)
NOT_PARQUET = RefusalText(
    "table.file",
    "{file!r:.80}",
    "this file cannot be read as Parquet",
    'df.to_parquet("visits.parquet")',
)
DATABASE_NOT_OPENED = RefusalText(
    "table.file",
    "{file!r:.80}",
    (
        "the file cannot be opened as a DuckDB database: it may be of another kind, or another "
        "process writes to it"
    ),
    "protect a copy of the database that no process writes to",
)
CSV_HEADERS_DIFFER = RefusalText(
    "table.files",
    "{file!r:.60} and {first_file!r:.60}",
    "the files of a table have the same first line, and these two differ",
    "write both files with the same columns, separated alike",
)
PARQUET_COLUMNS_DIFFER = RefusalText(
    "table.files",
    "{file!r:.60} and {first_file!r:.60}",
    "the files of a table have the same columns, in order and type, and these two differ",
    "write both files with the same columns",
)
FILES_CHANGED = RefusalText(
    "table.changed",
    "release(…)",
    "a file was replaced and no longer has the declared columns, or is being written now",
    "call protect() again once the file is complete",
)

# Tables of a database

TABLE_ARGUMENT_WITHOUT_URL = RefusalText(
    "table.table",
    "table={table!r:.60}",
    "table= is for a database URL; this source is one table",
    _PROTECT_FILE,
)
TABLE_NOT_IN_FILE = RefusalText(
    "table.table",
    "{source!r:.80}",
    "the database has no table {table!r:.60}; views are not tables",
    'protect({example!r:.200}, unit="user_id", budget=1)',
)
TABLE_OF_FILE_NOT_NAMED = RefusalText(
    "table.table",
    "{file!r:.80}",
    "the database has {tables} tables, and the path names none of them",
    'protect({example!r:.200}, unit="user_id", budget=1)',
)
TABLE_NOT_VISIBLE = RefusalText(
    "table.table",
    "table={table!r:.60}",
    "the database has no table of this name that this role can see",
    'table="visits"',
)
NOT_A_STORED_TABLE = RefusalText(
    "table.table",
    "table={table!r:.60}",
    "this is {kind}, not a table: its rows may be about many people",
    'table="visits"',
)
TABLE_OF_SERVER_NOT_NAMED = RefusalText(
    "table.table",
    'protect("postgresql://…")',
    "the database has several tables, or none that this role can see: name one",
    'table="visits"',
)
TABLE_ALTERED = RefusalText(
    "table.changed",
    "{table!r:.60}",
    "the table was altered or replaced, and no longer has the declared columns",
    "call protect() again",
)
ENGINES_MIXED = RefusalText(
    "table.engines",
    "protect({{…}}, …)",
    "one engine reads all tables that are protected together",
    (
        'protect({{"visits": "visits.parquet", "patients": "patients.parquet"}}, '
        'unit="patients.id", links={{"visits.patient_id": "patients.id"}}, budget=1)'
    ),
)

# Sources that are not tables

NOT_A_TABLE = RefusalText(
    "table.source",
    "protect({kind}, …)",
    (
        "a table is the path of a Parquet, CSV or DuckDB file, a pandas, Polars or Spark "
        "DataFrame, an Arrow table, an Ibis table, or the URL of a PostgreSQL database"
    ),
    _PROTECT_FILE,
)
LAZY_FRAME = RefusalText(
    "table.source",
    "protect(LazyFrame, …)",
    "a lazy frame is a query, not a table",
    'protect(frame.collect(), name="visits", unit="user_id", budget=1)',
)
ARROW_READER = RefusalText(
    "table.source",
    "protect(RecordBatchReader, …)",
    "a reader can be read once, and queries read a table many times",
    'protect(reader.read_all(), name="visits", unit="user_id", budget=1)',
)
IBIS_QUERY = RefusalText(
    "table.source",
    "protect({kind}, …)",
    "this is a query, whose rows may be about many people, not a table of a connection",
    'protect(connection.table("visits"), unit="user_id", budget=1)',
)
DUCKDB_OBJECT = RefusalText(
    "table.source",
    "protect({kind}, …)",
    "a DuckDB relation or connection is not a table",
    'protect(ibis.duckdb.from_connection(connection).table("visits"), unit="user_id", budget=1)',
)

# Spark frames of which two reads may differ

SPARK_CONNECT = RefusalText(
    "table.source",
    "{place}",
    "a session of Spark Connect does not show its plan",
    'protect(frame.toArrow(), name="visits", unit="user_id", budget=1)',
)
SPARK_STEP_UNSAFE = RefusalText(
    "table.source",
    "{place}",
    (
        "the step {step} is not on the list of safe steps: every read must give the same row, "
        "whatever the other rows are"
    ),
    _STORE_SPARK_FRAME,
)
SPARK_MILLISECONDS = RefusalText(
    "table.source",
    "{place}",
    (
        "column {column!r:.60} is stored in milliseconds, and Spark fails on a value that "
        "microseconds cannot hold"
    ),
    _STORE_SPARK_FRAME,
)

# DuckDB tables and views of which two reads may differ

TABLE_NOT_IN_CATALOGUE = RefusalText(
    "table.source",
    "{table!r:.60}",
    (
        "{name!r:.60} is not in the catalogue: DuckDB reads a file, or a variable of the program, "
        "anew each time"
    )
    + _TWO_READS,
    _STORE_VIEW,
)
TABLE_OF_OTHER_SYSTEM = RefusalText(
    "table.source",
    "{table!r:.60}",
    "{name!r:.60} lies in a database of another system, which may change between two reads"
    + _TWO_READS,
    _STORE_VIEW,
)
VIEW_OF_GENERATED_COLUMNS = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the view names {name!r:.60}, a table that generates columns" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_WITHOUT_TEXT = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the catalogue does not hold the text of the view, as for a registered frame" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_NOT_PARSED = RefusalText(
    "table.source",
    "{table!r:.60}",
    "DuckDB cannot parse the text of the view" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_NOT_ROW_WISE = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the view {action}" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_HAS_UNSAFE_STEP = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the view has the step {step:.60}" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_CALLS_TABLE_FUNCTION = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the view calls the table function {function:.60}, anew each time" + _TWO_READS,
    _STORE_VIEW,
)
VIEW_CALLS_FUNCTION = RefusalText(
    "table.source",
    "{table!r:.60}",
    "the view calls {function:.60}" + _TWO_READS,
    _STORE_VIEW,
)

# Columns

COLUMN_NAME_NOT_TEXT = RefusalText(
    "table.columns",
    "protect(DataFrame, …)",
    "column names are texts, and one of these is of type {kind}",
    "df.columns = df.columns.map(str)",
)
PANDAS_COLUMN_TWICE = RefusalText(
    "table.columns",
    "protect(DataFrame, …)",
    "two columns have the name {column!r:.60}",
    "df = df.loc[:, ~df.columns.duplicated()]",
)
ARROW_COLUMN_TWICE = RefusalText(
    "table.columns",
    "protect(Table, …)",
    "two columns have the name {column!r:.60}",
    "table = table.remove_column(table.column_names.index({column!r:.200}))",
)
COLUMN_NAME_RESERVED = RefusalText(
    "table.columns",
    "column {column!r}",
    "DuckDB uses this name for the row numbers of a Parquet file",
    'df.rename(columns={{{column!r}: "row"}}).to_parquet("visits.parquet")',
)
NO_READABLE_COLUMN = RefusalText(
    "table.columns",
    "protect({table!r:.60})",
    "the table has no column of a supported type",
    "choose a table with columns of numbers, texts or dates",
)

# Types

TYPES_NOT_A_MAPPING = RefusalText(
    "table.type",
    "types={types!s:.60}",
    "types maps columns to types",
    'types={{"spend": "float"}}',
)
CAST_IMPOSSIBLE = RefusalText(
    "table.cast",
    "types={{{column!r:.60}: '{target}'}}",
    "the column is {stored_words}, which cannot be cast to {target_words}",
    "types={{{column!r:.200}: '{stored}'}}",
    shell="--types {column}={stored}",
)
