"""The SQLite tables of a ledger, and how to recognise a ledger file.

*Balances*  `balance` stores the totals of the accounts, except one: the last entry stores the total
            of its own dataset, and the row is updated before an entry about another dataset. So a
            charge writes one page, not two. The view `account` joins both.
*Version*   The third. The ledger rewrites an older file in one transaction when it opens the file
            for writing. It refuses any other version, and does not touch the file: a newer sfumato
            wrote it, or none did.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...storage.file_versions import MAGIC, FileFormat, ask
from .. import ledger_refusals as refusals

if TYPE_CHECKING:
    import apsw

    from .book_store import BookTransaction

APPLICATION = 0x73666D74  # "sfmt", in the header of the file
SCHEMA = 3
OLDER = (1, 2)  # their digests did not cover the account totals
ALTERED = "the tables are not those that the book makes"

TABLES = """
CREATE TABLE book (id TEXT NOT NULL);
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, share TEXT, kind TEXT NOT NULL, key TEXT, \
body TEXT NOT NULL, digest TEXT NOT NULL,
    spent TEXT NOT NULL, parts INTEGER NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), \
state TEXT);
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_open ON entry (dataset) WHERE kind = 'open';
CREATE INDEX entry_amend ON entry (dataset, number) WHERE kind = 'amend';
CREATE INDEX entry_share ON entry (dataset, share, number) WHERE share IS NOT NULL;
CREATE TABLE balance (
    dataset TEXT NOT NULL, share TEXT NOT NULL, budget TEXT NOT NULL, spent TEXT NOT NULL,
    parts INTEGER NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), PRIMARY KEY (dataset, \
share)) WITHOUT ROWID;
CREATE VIEW account AS
    SELECT balance.dataset, balance.share, budget, coalesce(last.spent, balance.spent) AS spent, \
coalesce(last.parts, balance.parts) AS parts
    FROM balance LEFT JOIN (SELECT dataset, spent, parts FROM entry ORDER BY number DESC LIMIT 1) \
AS last
    ON last.dataset = balance.dataset AND balance.share = '';
CREATE TABLE reservation (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE INDEX reservation_open ON reservation (number) WHERE state = 'open';
CREATE TABLE answer (
    dataset TEXT NOT NULL, question TEXT NOT NULL, number INTEGER NOT NULL, answer BLOB NOT NULL, \
PRIMARY KEY (dataset, question)) WITHOUT ROWID;
CREATE INDEX answer_number ON answer (dataset, number);
CREATE TABLE shown (dataset TEXT NOT NULL, question TEXT NOT NULL, share TEXT NOT NULL, PRIMARY \
KEY (dataset, question, share)) WITHOUT ROWID;
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never \
changed'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never \
deleted'); END;
"""
"""SQLite stores this text in the file, and `verify` compares it byte for byte. The backslashes only
break the lines here.
"""


def _read_version(connection: apsw.Connection) -> int | None:
    """Return the version of the tables; None for an empty file. Refuse other files."""
    if (
        ask(connection, "PRAGMA application_id") in (0, APPLICATION)
        and ask(connection, "SELECT count(*) FROM sqlite_schema") == 0
    ):
        return None
    check(connection, "another database", (SCHEMA, *OLDER))
    return cast(int, ask(connection, "PRAGMA user_version"))


def _upgrade(connection: apsw.Connection, version: int | None) -> None:
    from .sqlite_upgrade import rewrite

    if version is None:
        connection.execute(TABLES)
    else:
        rewrite(connection)


FILE_FORMAT = FileFormat(APPLICATION, SCHEMA, _read_version, _upgrade)


def check(connection: apsw.Connection, name: str, versions: tuple[int, ...] = (SCHEMA,)) -> None:
    """Refuse a file that is not a ledger of one of these versions."""
    if ask(connection, "PRAGMA application_id") != APPLICATION:
        raise refusals.NOT_A_LEDGER(name=name, outcome=refusals.NOT_TOUCHED)
    version = ask(connection, "PRAGMA user_version")
    if version not in versions:
        entry = refusals.OLDER_TABLES if version in OLDER else refusals.UNKNOWN_TABLES
        raise entry(version=version, known=SCHEMA)


def structure(tx: BookTransaction) -> list[str]:
    """Return the problems of the file, and of its tables compared with TABLES."""
    import apsw

    fresh = apsw.Connection(":memory:")
    fresh.execute(TABLES)
    expected, actual = (
        {
            tuple(row)
            for row in c.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            )
        }
        for c in (fresh, tx)
    )
    fresh.close()
    problems = [] if expected == actual else [ALTERED]
    if tx.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        problems.append("the file is damaged")
    return problems


def may_be_a_ledger(place: str) -> bool:
    """Check the first bytes before SQLite opens the file: opening could already change another
    program's database.
    """
    path = Path(place)
    if not path.exists():
        return True
    with path.open("rb") as file:
        first = file.read(100)
    if not first.strip(b"\0"):  # empty, or cut off while it was made
        return not first or Path(f"{path}-journal").exists()
    return first[:16] == MAGIC and first[68:72] == APPLICATION.to_bytes(4, "big")
