"""The tables of the service's own records, and what a file or a database must be to hold them.

*Version*   The third, and said: in the header of the file, or in a table of the database. Records
            of the first, which did not say so, are known by their tables. Older records are brought
            to this one in a single transaction when they are opened: all of it, or nothing. Any
            other version is refused, untouched.
*Foreign*   A file, or a schema of the database, that holds something else is refused, untouched.
*Private*   A file that is made here is for its owner alone, whatever the umask says, and so is what
            SQLite puts beside it.
"""

from __future__ import annotations

import time
from typing import Any

from ..errors import Refused
from ..ledger.storage.fork_guard import make
from ..ledger.storage.sqlite_schema import undo

APPLICATION = 0x73666D73  # "sfms", in the header of the file
FORMAT = "sfumato server"
VERSION, SECOND, FIRST = 3, 2, 1
PATIENCE = 30_000  # milliseconds to wait for another writer
SCHEMA = "sfumato_server"
LOCK = 7238162  # PostgreSQL's, for processes that begin at once

VOID = "CREATE TABLE void (mark {bytes} PRIMARY KEY) {rowless}"
OLD = "CREATE INDEX request_old ON request (until)"
BODY = "CREATE INDEX reply_body ON reply (digest)"
HEAD = "CREATE TABLE head (dataset TEXT PRIMARY KEY, number BIGINT NOT NULL, head TEXT NOT NULL)"
TABLES = (
    """CREATE TABLE token (id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, datasets TEXT NOT NULL,
    made BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL)""",
    """CREATE TABLE request (dataset TEXT, who TEXT, key TEXT, digest TEXT NOT NULL, state TEXT NOT NULL, made DOUBLE PRECISION NOT NULL,
    until DOUBLE PRECISION NOT NULL, visible DOUBLE PRECISION NOT NULL, entry BIGINT, PRIMARY KEY (dataset, who, key))""",
    "CREATE INDEX request_until ON request (dataset, who, until)",
    OLD,
    "CREATE INDEX request_entry ON request (dataset, who, entry)",
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
)
UPGRADE = (OLD, BODY, VOID, HEAD)
"""From the first version to this one: what is old is found without looking at everything, keys that
were let go leave a mark, and the heads of the ledgers are kept. The second had no heads.
"""

FIRST_TABLES = frozenset({
    ("token", "id,hash,name,role,datasets,made,expires,revoked"),
    ("request", "dataset,who,key,digest,state,made,until,visible,entry"),
    ("reply", "dataset,who,key,media,digest"),
    ("body", "digest,bytes"),
    ("overrun", "dataset,who,count"),
})  # fmt: skip
"""By which records of the first version are known: they had no number."""

STEPS: dict[int | None, tuple[str, ...]] = {
    None: TABLES,
    FIRST: UPGRADE,
    SECOND: (HEAD,),
    VERSION: (),
}
"""What is to be done with what is found; None is an empty place."""
FILE = {"bytes": "BLOB", "rowless": "WITHOUT ROWID"}
SERVER = {"bytes": "BYTEA", "rowless": ""}
COLUMNS_OF_FILE = """
SELECT t.name, (SELECT group_concat(c.name, ',' ORDER BY cid) FROM pragma_table_info(t.name) AS c) FROM sqlite_schema AS t
WHERE type IN ('table', 'view', 'trigger') AND t.name NOT LIKE 'sqlite_%'"""
COLUMNS_OF_SERVER = f"""
SELECT relname, (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '{SCHEMA}' AND relkind IN ('r', 'v', 'm', 'p', 'f')"""


def in_file(place: str) -> Any:
    """A connection to the records in a file, which is made where there is none."""
    import apsw

    if place != ":memory:":
        make(place)
    connection = apsw.Connection(place)
    try:
        connection.set_busy_timeout(PATIENCE)
        end = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                return _prepared(connection)
            except apsw.BusyError:  # the change to WAL does not wait by itself
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
    except apsw.NotADBError:
        connection.close()
        raise _foreign() from None
    except BaseException:
        connection.close()
        raise


def on_server(place: str) -> Any:
    """A connection to the records in a database, which are made where there are none."""
    import psycopg

    connection = psycopg.connect(place, autocommit=True)
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            found = _of_server(connection)
            steps = _steps(found)
            if found is None and connection.execute(
                f"SELECT to_regnamespace('{SCHEMA}')"
            ).fetchone() == (None,):
                connection.execute(f"CREATE SCHEMA {SCHEMA}")
            connection.execute(f"SET search_path = {SCHEMA}")
            if connection.execute("SHOW synchronous_commit").fetchone() != ("remote_apply",):
                connection.execute(
                    "SET synchronous_commit = on"
                )  # at least: what returned has reached the disk
            for statement in steps:
                connection.execute(statement.format(**SERVER))
            if steps:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS format (application TEXT NOT NULL, "
                    "version INTEGER NOT NULL)"
                )
                connection.execute("DELETE FROM format")
                connection.execute("INSERT INTO format VALUES (%s, %s)", (FORMAT, VERSION))
    except BaseException:
        connection.close()
        raise
    return connection


def _prepared(connection: Any) -> Any:
    """Look before anything is changed; then make or upgrade, all of it or nothing; then the log."""
    connection.execute(
        "PRAGMA synchronous = EXTRA"
        # until the log is on: the rollback journal of a beginning must not come back after a power
        # loss
    )
    connection.execute("BEGIN")  # one view: another process may be making them
    try:
        found = _of_file(connection)
    finally:
        undo(connection)
    if _steps(found):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in (
                *_steps(_of_file(connection)),
                f"PRAGMA application_id = {APPLICATION}",
                f"PRAGMA user_version = {VERSION}",
            ):
                connection.execute(
                    statement.format(**FILE)
                )  # nothing but the numbers, where another process was quicker
            connection.execute("COMMIT")
        except BaseException:
            undo(connection)
            raise
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _of_file(connection: Any) -> int | None:
    """The version of the records in a file."""
    tables = frozenset(map(tuple, connection.execute(COLUMNS_OF_FILE)))
    (((application,),), ((version,),)) = (
        connection.execute(f"PRAGMA {name}").fetchall()
        for name in ("application_id", "user_version")
    )
    return _known(
        tables,
        int(version) if application == APPLICATION else None,
        unmarked=application == version == 0,
    )


def _of_server(connection: Any) -> int | None:
    """The version of the records in a database."""
    tables = frozenset(map(tuple, connection.execute(COLUMNS_OF_SERVER).fetchall()))
    said = (
        connection.execute(f"SELECT application, version FROM {SCHEMA}.format").fetchall()
        if ("format", "application,version") in tables
        else []
    )
    return _known(
        tables, said[0][1] if [one for one, _ in said] == [FORMAT] else None, unmarked=not said
    )


def _known(tables: frozenset[Any], said: int | None, *, unmarked: bool) -> int | None:
    """The version that is said, or follows from the tables."""
    if said is not None:
        return said
    if unmarked and (not tables or tables == FIRST_TABLES):
        return FIRST if tables else None
    raise _foreign()


def _steps(found: int | None) -> tuple[str, ...]:
    if found not in STEPS:
        rewrite = (
            "pip install --upgrade sfumato"
            if found is not None and found > VERSION
            else "the file as it was, from a backup"
        )
        raise Refused(
            "server.records",
            f"version {found}",
            f"this sfumato knows version {VERSION} of a service's records; they were not touched",
            rewrite,
        )
    return STEPS[found]


def _foreign() -> Refused:
    reason = (
        "there is something else than the records of a service, or of one that no release "
        "ever wrote; it was not touched"
    )
    return Refused(
        "server.records", "[server] tokens", reason, 'a place of their own: tokens = "tokens.db"'
    )
