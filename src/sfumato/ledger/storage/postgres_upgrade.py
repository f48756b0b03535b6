"""Upgrade a PostgreSQL book of the second version, all in one transaction.

*How*       Rename the old schema, create a new one, and copy the rows while following and adding up
            the chain; `sqlite_upgrade` says what is kept and refused. Writers wait for the lock on
            the book.
*Rights*    Roles that could read may read. Roles that could write to the tables may call `enter`
            instead, and can write to no table.
*Who*       The owner of the tables, who may create a schema in the database. Other roles are
            refused with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from .. import ledger_refusals as refusals
from ..entries import Replay
from .book_store import BALANCE, ENTER
from .postgres_schema import FORMAT, TABLES
from .sqlite_schema import SCHEMA
from .sqlite_upgrade import (
    DAMAGE,
    READ,
    SAME,
    LastEntry,
    check_agrees,
    seal_upgrade,
    upgraded_entries,
)

if TYPE_CHECKING:
    from ...storage.sqlite_store import Row
    from .postgres_schema import Connection

ASIDE = "sfumato_older"
PORTION = 1000
_RIGHTS = f"""
SELECT grantee::regrole::text, bool_or(privilege_type = 'INSERT') FROM pg_class, aclexplode(relacl)
WHERE oid = '{ASIDE}.entry'::regclass AND grantee <> relowner AND grantee <> 0
    AND privilege_type IN ('SELECT', 'INSERT') GROUP BY 1"""
_ACCOUNTS = f"""
SELECT balance.dataset, share, budget, coalesce(last.spent, balance.spent), coalesce(last.parts,
    balance.parts)
FROM {ASIDE}.balance LEFT JOIN (SELECT dataset, spent, parts FROM {ASIDE}.entry
    ORDER BY number DESC LIMIT 1) AS last
    ON last.dataset = balance.dataset AND share = ''"""


def rewrite(connection: Connection, version: int) -> None:
    """Upgrade the book to this version, unless another process did so first."""
    import psycopg

    try:
        with connection.transaction():
            connection.execute("LOCK TABLE sfumato.book IN ACCESS EXCLUSIVE MODE")
            connection.execute("SET LOCAL statement_timeout TO 0")
            if connection.execute("SELECT version FROM sfumato.format").fetchall() == [(version,)]:
                try:
                    _move(connection)
                except (*DAMAGE, psycopg.errors.UndefinedTable):
                    raise refusals.OLDER_BOOK_DAMAGED() from None
    except psycopg.errors.UndefinedTable:
        # another process was quicker, and this one had waited for what is gone now
        return
    except psycopg.errors.InsufficientPrivilege:
        raise refusals.UPGRADE_NEEDS_OWNER(version=version, known=SCHEMA) from None


def _move(connection: Connection) -> None:
    connection.execute(f"ALTER SCHEMA sfumato RENAME TO {ASIDE}")
    connection.execute("CREATE SCHEMA sfumato")
    connection.execute(TABLES, prepare=False)
    ((book,),) = connection.execute(f"SELECT id FROM {ASIDE}.book").fetchall()
    replay, last = Replay(), LastEntry(0, "", None)
    with connection.cursor() as writer:
        new = upgraded_entries(_rows(connection), replay, last, str(book))
        while portion := list(islice(new, PORTION)):
            writer.executemany(ENTER.replace("?", "%s"), portion)
        for table in SAME:
            writer.execute(f"INSERT INTO {table} SELECT * FROM {ASIDE}.{table}")
        check_agrees(
            replay,
            writer.execute(_ACCOUNTS).fetchall(),
            writer.execute("SELECT * FROM reservation").fetchall(),
        )
        rows, sealed = seal_upgrade(replay, last)
        for statement, many in ((BALANCE, rows), (ENTER, sealed)):
            writer.executemany(statement.replace("?", "%s"), many)
        for role, writes in writer.execute(_RIGHTS).fetchall():  # as the server quotes its name
            writer.execute(f"GRANT USAGE ON SCHEMA sfumato TO {role}")
            writer.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA sfumato TO {role}")
            if writes:
                writer.execute(f"GRANT UPDATE ON book TO {role}")
                writer.execute(f"GRANT EXECUTE ON FUNCTION enter TO {role}")
        writer.execute("INSERT INTO format VALUES (%s, %s)", (FORMAT, SCHEMA))
        writer.execute(f"DROP SCHEMA {ASIDE} CASCADE")


def _rows(connection: Connection) -> Iterator[Row]:
    """Yield the rows in portions: a book may be larger than memory."""
    connection.execute(
        f"DECLARE older NO SCROLL CURSOR FOR SELECT {READ} FROM {ASIDE}.entry ORDER BY number",
        prepare=False,
    )
    while portion := connection.execute(f"FETCH {PORTION} FROM older", prepare=False).fetchall():
        yield from portion
    connection.execute("CLOSE older", prepare=False)
