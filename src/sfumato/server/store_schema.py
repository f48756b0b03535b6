"""The tables of the service's own records in SQLite and PostgreSQL, and their upgrades.

*Version*   The fifth. The header of the file, or a table of the database, states it. The first
            version did not; its tables identify it. Opening older records upgrades them in a single
            transaction. Any other version is refused, untouched.
*Foreign*   A file or database schema that holds something else is refused, untouched.
*Private*   Only the owner may read a new file and its log, whatever the umask.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import RefusalText, Refused
from ..storage.database_url import Url
from ..storage.file_versions import FileFormat, ask, prepare_file
from ..storage.sqlite_store import Store
from ..storage.storage_errors import Outcome, Reason, StorageError
from . import server_refusals as refusals

if TYPE_CHECKING:
    import apsw
    import psycopg
    from psycopg.rows import TupleRow

    from ..storage.sqlite_store import Row

APPLICATION = 0x73666D73  # "sfms", in the header of the file
FORMAT = "sfumato server"
VERSION, FOURTH, THIRD, SECOND, FIRST = 5, 4, 3, 2, 1
SCHEMA = "sfumato_server"
LOCK = 7238162  # PostgreSQL advisory lock, for processes that start at once

VOID = "CREATE TABLE void (mark {bytes} PRIMARY KEY) {rowless}"
OLD = "CREATE INDEX request_old ON request (until)"
BODY = "CREATE INDEX reply_body ON reply (digest)"
HEAD = "CREATE TABLE head (dataset TEXT PRIMARY KEY, number BIGINT NOT NULL, head TEXT NOT NULL)"
ASKED = (
    "CREATE TABLE asked (dataset TEXT, who TEXT, entry BIGINT, sql TEXT NOT NULL, "
    "visible DOUBLE PRECISION NOT NULL, PRIMARY KEY (dataset, entry, who))"
)
SCRAM = "CREATE TABLE scram (token TEXT PRIMARY KEY, verifier TEXT NOT NULL)"
RECEIVED = """
INSERT INTO asked SELECT dataset, who, entry, '', min(visible) FROM request
    WHERE state = 'done' AND entry IS NOT NULL GROUP BY dataset, who, entry"""
TABLES = (
    """CREATE TABLE token (id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, role TEXT \
NOT NULL, datasets TEXT NOT NULL,
    made BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL)""",
    """CREATE TABLE request (dataset TEXT, who TEXT, key TEXT, digest TEXT NOT NULL, state TEXT \
NOT NULL, made DOUBLE PRECISION NOT NULL,
    until DOUBLE PRECISION NOT NULL, visible DOUBLE PRECISION NOT NULL, entry BIGINT, PRIMARY KEY \
(dataset, who, key))""",
    "CREATE INDEX request_until ON request (dataset, who, until)",
    OLD,
    (
        "CREATE TABLE reply (dataset TEXT, who TEXT, key TEXT, media TEXT, digest TEXT NOT "
        "NULL, PRIMARY KEY (dataset, who, key, media))"
    ),
    BODY,
    "CREATE TABLE body (digest TEXT PRIMARY KEY, bytes {bytes} NOT NULL)",
    (
        "CREATE TABLE overrun (dataset TEXT, who TEXT, count BIGINT NOT NULL, PRIMARY KEY "
        "(dataset, who))"
    ),
    VOID,
    HEAD,
    ASKED,
    SCRAM,
)
TO_FOURTH = (ASKED, RECEIVED, "DROP INDEX request_entry")
TO_FIFTH = (SCRAM,)
UPGRADE = (OLD, BODY, VOID, HEAD, *TO_FOURTH, *TO_FIFTH)
"""From the first version to this one: an index finds old requests, deleted keys leave a mark, the
heads of the ledgers are recorded, and questions stay as they were typed. The second version had no
heads, the third no questions, the fourth no verifiers of tokens for the PostgreSQL wire.
"""

FIRST_TABLES = frozenset({
    ("token", "id,hash,name,role,datasets,made,expires,revoked"),
    ("request", "dataset,who,key,digest,state,made,until,visible,entry"),
    ("reply", "dataset,who,key,media,digest"),
    ("body", "digest,bytes"),
    ("overrun", "dataset,who,count"),
})  # fmt: skip
"""The tables that identify the first version, which stored no number."""

STEPS: dict[int | None, tuple[str, ...]] = {
    None: TABLES,
    FIRST: UPGRADE,
    SECOND: (HEAD, *TO_FOURTH, *TO_FIFTH),
    THIRD: (*TO_FOURTH, *TO_FIFTH),
    FOURTH: TO_FIFTH,
    VERSION: (),
}
"""The statements that upgrade each version; None is an empty place."""
FILE = {"bytes": "BLOB", "rowless": "WITHOUT ROWID"}
SERVER = {"bytes": "BYTEA", "rowless": ""}
COLUMNS_OF_FILE = """
SELECT t.name, (SELECT group_concat(c.name, ',' ORDER BY cid) FROM pragma_table_info(t.name)
    AS c) FROM sqlite_schema AS t
WHERE type IN ('table', 'view', 'trigger') AND t.name NOT LIKE 'sqlite_%'"""
COLUMNS_OF_SERVER = f"""
SELECT relname, (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '{SCHEMA}'
    AND relkind IN ('r', 'v', 'm', 'p', 'f')"""


def open_records(place: str) -> Store:
    """Return the storage of the records: a file, a database in memory, or a server."""
    if place.lower().startswith(("postgres://", "postgresql://")):
        try:
            from .postgres_records import PostgresRecords
        except ImportError:  # psycopg is not installed
            raise refusals.RECORDS_FAILED() from None
        return PostgresRecords(Url(place))
    return FileRecords(None if place == ":memory:" else Path(place).absolute())


REASONS: dict[Reason | None, RefusalText] = {
    Reason.SECOND_NAME: refusals.RECORDS_WITH_SECOND_NAME,
    Reason.FILE_SYSTEM_SHARED: refusals.RECORDS_WITHOUT_LOCKS,
    Reason.LOCKS_WITHOUT_EFFECT: refusals.RECORDS_WITHOUT_LOCKS,
    Reason.FILE_MOVED: refusals.RECORDS_MOVED,
    Reason.LOG_REPLACED: refusals.RECORDS_MOVED,
}
"""The refusal for each reason that an owner can mend."""


class FileRecords(Store):
    """The records in a file."""

    def _prepare(self, connection: apsw.Connection) -> None:
        prepare_file(connection, FILE_FORMAT)

    def _explain(self, error: Exception, outcome: Outcome) -> Refused:
        """Turn a storage error into a refusal that quotes nothing from the storage."""
        import apsw

        if isinstance(error, apsw.NotADBError):
            return refusals.RECORDS_FOREIGN()
        reason = error.reason if isinstance(error, StorageError) else None
        return REASONS.get(reason, refusals.RECORDS_FAILED)()


def prepare_server(connection: psycopg.Connection[TupleRow]) -> None:
    """Create or upgrade the records in a database, and set up the session."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        version = _server_version(connection)
        steps = _upgrade_steps(version)
        if version is None and connection.execute(
            f"SELECT to_regnamespace('{SCHEMA}')"
        ).fetchone() == (None,):
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
        connection.execute(f"SET search_path = {SCHEMA}")
        if connection.execute("SHOW synchronous_commit").fetchone() != ("remote_apply",):
            # at least: what returned has reached the disk
            connection.execute("SET synchronous_commit = on")
        for statement in steps:
            connection.execute(statement.format(**SERVER))
        if steps:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS format (application TEXT NOT NULL, "
                "version INTEGER NOT NULL)"
            )
            connection.execute("DELETE FROM format")
            connection.execute("INSERT INTO format VALUES (%s, %s)", (FORMAT, VERSION))


def _upgrade_file(connection: apsw.Connection, version: int | None) -> None:
    for statement in _upgrade_steps(version):
        connection.execute(statement.format(**FILE))


def _file_version(connection: apsw.Connection) -> int | None:
    """Return the version of the records in a file; None if it is empty. Refuse other files."""
    tables = frozenset(map(tuple, connection.execute(COLUMNS_OF_FILE)))
    application, stated = (
        cast(int, ask(connection, f"PRAGMA {name}")) for name in ("application_id", "user_version")
    )
    version = _identify_version(
        tables,
        stated if application == APPLICATION else None,
        unmarked=application == stated == 0,
    )
    _upgrade_steps(version)
    return version


FILE_FORMAT = FileFormat(APPLICATION, VERSION, _file_version, _upgrade_file)


def _server_version(connection: psycopg.Connection[TupleRow]) -> int | None:
    """Return the version of the records in a database."""
    tables = frozenset(map(tuple, connection.execute(COLUMNS_OF_SERVER).fetchall()))
    rows = (
        connection.execute(f"SELECT application, version FROM {SCHEMA}.format").fetchall()
        if ("format", "application,version") in tables
        else []
    )
    return _identify_version(
        tables,
        rows[0][1] if [application for application, _ in rows] == [FORMAT] else None,
        unmarked=not rows,
    )


def _identify_version(tables: frozenset[Row], stated: int | None, *, unmarked: bool) -> int | None:
    """Return the stated version, or the one that follows from the tables."""
    if stated is not None:
        return stated
    if unmarked and (not tables or tables == FIRST_TABLES):
        return FIRST if tables else None
    raise refusals.RECORDS_FOREIGN()


def _upgrade_steps(version: int | None) -> tuple[str, ...]:
    if version not in STEPS:
        is_newer = version is not None and version > VERSION
        entry = refusals.RECORDS_NEWER if is_newer else refusals.RECORDS_UNKNOWN
        raise entry(version=version, known=VERSION)
    return STEPS[version]
