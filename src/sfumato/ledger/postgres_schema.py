"""The tables of a book on PostgreSQL, and what a database must be to hold one.

*Place*     The schema `sfumato` of a database, which no setting of a role or of a search path moves: one database, one book. The tables are those of a file;
            names are compared and ordered byte by byte, whatever the language of the database.
*Durable*   `synchronous_commit` is on at least, and a server that runs with `fsync=off` is refused: there a commit that returned may still be lost.
*Patience*  The server gives up a lock or a statement before this process does, so that mostly it can say what became of it.
"""

from __future__ import annotations

from typing import Any

from ..errors import Refused
from .schema import ALTERED, APPLICATION, NEW, SCHEMA, UPGRADE

OLDEST_SERVER = 14_00_00
FORMAT = "sfumato ledger"

SESSION = """
SET search_path TO sfumato, pg_temp;
SET row_security TO off;
SET enable_seqscan TO off;
SET jit TO off;
SET tcp_keepalives_idle TO 10;
SET tcp_keepalives_interval TO 5;
SET tcp_keepalives_count TO 4;
SET lock_timeout TO {lock};
SET statement_timeout TO {statement}"""
"""Rows that a policy hides are an error; the end of a chain is found by its index, however short the book was when the server planned that; and a host that
vanished in the middle of a transaction holds the book for half a minute, not for hours."""

TABLES = """
CREATE TABLE format (application TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE book (id TEXT NOT NULL);
CREATE TABLE entry (
    number BIGINT PRIMARY KEY, dataset TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C", body TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL, spent TEXT, parts BIGINT CHECK (parts BETWEEN 0 AND 1152921504606846976));
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_open ON entry (dataset) WHERE kind = 'open';
CREATE TABLE balance (
    dataset TEXT COLLATE "C" NOT NULL, share TEXT COLLATE "C" NOT NULL, budget TEXT NOT NULL, spent TEXT NOT NULL,
    parts BIGINT NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), PRIMARY KEY (dataset, share));
CREATE TABLE reservation (number BIGINT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE answer (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, answer BYTEA NOT NULL, PRIMARY KEY (dataset, question));
CREATE TABLE shown (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL, share TEXT COLLATE "C" NOT NULL, PRIMARY KEY (dataset, question, share));
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'what the book has written is never changed' USING ERRCODE = 'restrict_violation'; END$$;
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON entry FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER book_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON book FOR EACH STATEMENT EXECUTE FUNCTION stays();
"""

FOUND = """
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_setting('fsync'), current_setting('synchronous_commit'),
    to_regclass('sfumato.format') IS NOT NULL, EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'sfumato')"""

FORM = """
WITH relation AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'sfumato')
SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, relrowsecurity, relhasrules, relispartition,
        (SELECT count(*) FROM pg_inherits WHERE inhparent = relation.oid)) FROM relation
UNION ALL
SELECT concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull, atthasdef,
        (SELECT collname FROM pg_collation l WHERE l.oid = attcollation))
    FROM relation JOIN pg_attribute ON attrelid = relation.oid WHERE attnum > 0 AND relkind <> 'i' AND NOT attisdropped
UNION ALL
SELECT concat_ws(' ', 'index', indisvalid, pg_get_indexdef(indexrelid)) FROM relation JOIN pg_index ON indrelid = relation.oid
UNION ALL
SELECT concat_ws(' ', 'constraint', relname, contype, convalidated, CASE contype WHEN 'c' THEN pg_get_constraintdef(k.oid) ELSE conname::text END)
    FROM relation JOIN pg_constraint k ON conrelid = relation.oid WHERE contype <> 'n'
UNION ALL
SELECT concat_ws(' ', 'trigger', relname, tgname, tgtype, tgenabled, proname)
    FROM relation JOIN pg_trigger ON tgrelid = relation.oid JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal
UNION ALL
SELECT concat_ws(' ', 'function', proname, prosrc) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = 'sfumato'"""
"""All that makes the tables what they are, in words that no version of the server has changed."""


def prepare(connection: Any, *, begin: bool, lock: int, statement: int) -> None:
    """See that the server can keep a book, and that there is one or may be one; set the session up."""
    connection.execute(SESSION.format(lock=lock, statement=statement), prepare=False)
    version, encoding, fsync, commit, ours, others = _found(connection)
    if version < OLDEST_SERVER:
        raise Refused("ledger.server", "PostgreSQL", f"its version is older than {OLDEST_SERVER // 10_000}; nothing was accepted", "a newer server")
    if encoding != "UTF8":
        raise Refused("ledger.storage", "PostgreSQL", "the database cannot hold every text; nothing was accepted", "CREATE DATABASE … ENCODING 'UTF8'")
    if fsync != "on":
        raise Refused("ledger.storage", "PostgreSQL", "the server runs with fsync=off: what it commits may be lost; nothing was accepted", "fsync = on")
    if commit not in ("on", "remote_apply"):
        connection.execute("SET synchronous_commit TO on")
    if not ours and not others:
        if not begin:
            raise Refused("ledger.budget", "a new ledger", "a new account needs a budget", NEW.format("url"))
        _make(connection)
    check(connection)


def check(connection: Any) -> None:
    """Whether the database holds a ledger of the version that is known here."""
    *_, ours, others = _found(connection)
    if not ours and not others:
        raise Refused("ledger.path", "the database", "there is no ledger in it; nothing was made", NEW.format("url"))
    rows = connection.execute("SELECT application, version FROM sfumato.format").fetchall() if ours else []
    if len(rows) != 1 or rows[0][0] != FORMAT:
        raise Refused("ledger.format", "the schema sfumato", "it is something else than a ledger; it was not touched", "another database")
    if rows[0][1] != SCHEMA:
        raise Refused("ledger.version", f"schema {rows[0][1]}", f"this sfumato reads schema {SCHEMA}; the tables were not touched", UPGRADE)


def structure(tx: Any) -> list[str]:
    """Whether the tables are those that the book makes. The pages of the disk are the server's to check."""
    return [] if {line for (line,) in tx.execute(FORM)} == MADE else [ALTERED]


def _found(connection: Any) -> tuple[Any, ...]:
    ((*found,),) = connection.execute(FOUND).fetchall()
    return tuple(found)


def _make(connection: Any) -> None:
    """The tables, unless another process was quicker: all of them, or none."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
        if not any(_found(connection)[-2:]):
            connection.execute("CREATE SCHEMA IF NOT EXISTS sfumato")
            connection.execute(TABLES, prepare=False)
            connection.execute("INSERT INTO format VALUES (%s, %s)", (FORMAT, SCHEMA))


MADE = frozenset(
    """\
column answer 1 dataset text t f C
column answer 2 question text t f C
column answer 3 number bigint t f
column answer 4 answer bytea t f
column balance 1 dataset text t f C
column balance 2 share text t f C
column balance 3 budget text t f default
column balance 4 spent text t f default
column balance 5 parts bigint t f
column book 1 id text t f default
column entry 1 number bigint t f
column entry 2 dataset text t f C
column entry 3 kind text t f C
column entry 4 key text f f C
column entry 5 body text t f C
column entry 6 digest text t f default
column entry 7 spent text f f default
column entry 8 parts bigint f f
column format 1 application text t f default
column format 2 version integer t f
column reservation 1 number bigint t f
column reservation 2 state text t f default
column shown 1 dataset text t f C
column shown 2 question text t f C
column shown 3 share text t f C
constraint answer p t answer_pkey
constraint balance c t CHECK (((parts >= 0) AND (parts <= '1152921504606846976'::bigint)))
constraint balance p t balance_pkey
constraint entry c t CHECK (((parts >= 0) AND (parts <= '1152921504606846976'::bigint)))
constraint entry p t entry_pkey
constraint reservation p t reservation_pkey
constraint shown p t shown_pkey
function stays BEGIN RAISE EXCEPTION 'what the book has written is never changed' USING ERRCODE = 'restrict_violation'; END
index t CREATE UNIQUE INDEX answer_pkey ON sfumato.answer USING btree (dataset, question)
index t CREATE UNIQUE INDEX balance_pkey ON sfumato.balance USING btree (dataset, share)
index t CREATE UNIQUE INDEX entry_key ON sfumato.entry USING btree (dataset, key) WHERE (key IS NOT NULL)
index t CREATE UNIQUE INDEX entry_open ON sfumato.entry USING btree (dataset) WHERE (kind = 'open'::text)
index t CREATE UNIQUE INDEX entry_pkey ON sfumato.entry USING btree (number)
index t CREATE UNIQUE INDEX reservation_pkey ON sfumato.reservation USING btree (number)
index t CREATE UNIQUE INDEX shown_pkey ON sfumato.shown USING btree (dataset, question, share)
relation answer r p f f f 0
relation answer_pkey i p f f f 0
relation balance r p f f f 0
relation balance_pkey i p f f f 0
relation book r p f f f 0
relation entry r p f f f 0
relation entry_key i p f f f 0
relation entry_open i p f f f 0
relation entry_pkey i p f f f 0
relation format r p f f f 0
relation reservation r p f f f 0
relation reservation_pkey i p f f f 0
relation shown r p f f f 0
relation shown_pkey i p f f f 0
trigger book book_stays 58 O stays
trigger entry entry_stays 58 O stays""".splitlines()
)
"""What FORM finds where TABLES were made."""
