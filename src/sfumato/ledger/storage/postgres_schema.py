"""The PostgreSQL tables of a ledger, and what a database must provide to hold one.

*Place*     The schema `sfumato` of a database. No role setting and no search path moves it: one
            database, one book. The tables match those of a file. The server compares and sorts
            names byte by byte, whatever the language of the database.
*Durable*   `synchronous_commit` is at least on. A server that runs with `fsync=off` is refused: it
            may lose a commit that has returned.
*Rights*    Only the owner writes to a table. Roles that charge call `enter`, which runs with the
            owner's rights and writes one entry and its effects: the chain continues, no total
            falls except by the cost of an open reservation, and no budget changes. Only the
            owner's role may lower totals or change budgets (`amend`, `reprice`).
*Patience*  The server times out a lock or a statement before this process does, so that it can
            usually report the outcome.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .. import ledger_refusals as refusals
from .sqlite_schema import ALTERED, APPLICATION, SCHEMA

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow

    from .book_store import BookTransaction

    Connection = psycopg.Connection[TupleRow]

OLDEST_SERVER = 14_00_00
FORMAT = "sfumato ledger"
SECOND = 2  # the first that was kept on servers

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
"""Rows hidden by a policy raise an error. The planner finds the end of the chain by its index, even
if it planned the statement for a short book. A host that vanishes during a transaction blocks the
book for half a minute, not for hours.
"""

STAYS = (
    "BEGIN RAISE EXCEPTION 'what the book has written is never changed' USING ERRCODE = "
    "'restrict_violation'; END"
)

REACHES = """
SELECT coalesce(bool_and(coalesce(CASE WHEN a ~ '^[0-9]+(/[1-9][0-9]*)?$' AND c ~ \
'^[0-9]+(/[1-9][0-9]*)?$'
    THEN an * bd * cd >= greatest(bn * cd + sign * cn * bd, 0) * ad END, false)), false)
FROM ROWS FROM (json_array_elements_text(after::json), json_array_elements_text(before::json), \
json_array_elements_text(cost::json)) AS number (a, b, c),
    LATERAL (SELECT split_part(a, '/', 1)::numeric AS an, coalesce(nullif(split_part(a, '/', 2), \
''), '1')::numeric AS ad) AS x,
    LATERAL (SELECT split_part(b, '/', 1)::numeric AS bn, coalesce(nullif(split_part(b, '/', 2), \
''), '1')::numeric AS bd) AS y,
    LATERAL (SELECT split_part(c, '/', 1)::numeric AS cn, coalesce(nullif(split_part(c, '/', 2), \
''), '1')::numeric AS cd) AS z
"""
"""SQL function: whether each total is at least the total before, plus or minus the cost, exactly.
It compares fractions as integers of any length. The server keeps the text of a function, and
`structure` compares its hash: the backslashes only break the lines here.
"""

STATE = """
SELECT encode(sha256(convert_to(count(*) || E'\\n', 'UTF8') || \
coalesce(string_agg(sha256(convert_to(dataset, 'UTF8') || '\\x00'::bytea
        || convert_to(share, 'UTF8') || '\\x00'::bytea || convert_to(budget, 'UTF8') || \
'\\x00'::bytea || convert_to(spent, 'UTF8')), ''::bytea
        ORDER BY dataset, share), ''::bytea)
    || convert_to(coalesce((SELECT string_agg(number::text, ',' ORDER BY number) FROM reservation \
WHERE state = 'open'), ''), 'UTF8')), 'hex')
FROM balance
"""
"""SQL function: the state digest, as `entries.Standing` computes it."""

ENTER = """
DECLARE
    zeros CONSTANT text := '^\\["0"(, "0")*\\]$';
    last entry;
    paid entry;
    old balance;
    said json := replace(body_, '\\u0000', '\\u2400')::json;
    cost text := said ->> 'cost';
    previous text;
    before text;
    sign integer := CASE kind_ WHEN 'release' THEN -1 ELSE 1 END;
    new record;
    told boolean := false;
BEGIN
    LOCK TABLE book IN EXCLUSIVE MODE;
    SELECT * INTO last FROM entry ORDER BY number DESC LIMIT 1;
    SELECT coalesce(last.digest, encode(sha256(convert_to('sfumato ledger' || E'\\n' || id, \
'UTF8')), 'hex')) INTO STRICT previous FROM book;
    SELECT CASE WHEN last.dataset = dataset_ THEN last.spent ELSE spent END INTO before FROM \
balance WHERE dataset = dataset_ AND share = '';
    IF kind_ IN ('amend', 'reprice', 'upgrade')
            AND NOT pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = \
'sfumato.entry'::regclass), 'USAGE') THEN
        RAISE insufficient_privilege;
    END IF;
    IF number_ IS DISTINCT FROM coalesce(last.number, 0) + 1
            OR said ->> 'dataset' IS DISTINCT FROM dataset_ OR said ->> 'kind' IS DISTINCT FROM \
kind_
            OR said ->> 'share' IS DISTINCT FROM share_ OR said ->> 'key' IS DISTINCT FROM key_
            OR share_ = '' OR (kind_ = 'open') IS DISTINCT FROM (before IS NULL) THEN
        RAISE integrity_constraint_violation;
    END IF;

    IF kind_ IN ('use', 'release', 'answer', 'recall') THEN
        SELECT * INTO STRICT paid FROM entry
            WHERE number = (said ->> 'entry')::bigint AND dataset = dataset_ AND kind IN \
('charge', 'reserve');
    END IF;
    IF kind_ IN ('use', 'release') THEN
        UPDATE reservation SET state = kind_ WHERE number = paid.number AND state = 'open';
        IF NOT FOUND OR paid.share IS DISTINCT FROM share_ THEN
            RAISE integrity_constraint_violation;
        END IF;
        cost := replace(paid.body, '\\u0000', '\\u2400')::json ->> 'cost';
    ELSIF kind_ = 'reserve' THEN
        INSERT INTO reservation VALUES (number_, 'open');
    ELSIF kind_ = 'answer' THEN
        IF paid.share IS DISTINCT FROM share_ OR encode(sha256(answer_), 'hex') IS DISTINCT FROM \
said ->> 'answer'
                OR EXISTS (SELECT FROM reservation WHERE number = paid.number AND state <> 'use') \
THEN
            RAISE integrity_constraint_violation;
        END IF;
        DELETE FROM shown WHERE dataset = dataset_ AND question = said ->> 'question';
        INSERT INTO answer VALUES (dataset_, said ->> 'question', paid.number, answer_)
            ON CONFLICT (dataset, question) DO UPDATE SET number = excluded.number, answer = \
excluded.answer;
    END IF;
    IF kind_ IN ('answer', 'recall') THEN
        INSERT INTO shown VALUES (dataset_, said ->> 'question', coalesce(share_, ''));
    END IF;

    IF NOT coalesce(CASE
            WHEN kind_ = 'open' THEN spent_ ~ zeros
            WHEN kind_ IN ('charge', 'reserve', 'release') THEN reaches(spent_, before, cost, sign)
            WHEN kind_ = 'reprice' THEN true
            WHEN kind_ IN ('share', 'use', 'answer', 'recall', 'amend', 'upgrade') THEN spent_ = \
before
            ELSE false END, false) THEN
        RAISE integrity_constraint_violation;
    END IF;
    FOR new IN SELECT r ->> 0 AS dataset, r ->> 1 AS share, r ->> 2 AS budget, r ->> 3 AS spent, \
(r ->> 4)::bigint AS parts
            FROM json_array_elements(rows_::json) AS r LOOP
        SELECT * INTO old FROM balance WHERE dataset = new.dataset AND share = new.share;
        IF NOT coalesce(CASE
                WHEN new.dataset <> dataset_ THEN new.dataset = last.dataset AND new.share = '' \
AND new.spent = last.spent AND new.budget = old.budget
                WHEN kind_ = 'reprice' THEN new.budget = old.budget
                WHEN new.share = '' AND kind_ = 'open' THEN new.spent = spent_ AND new.budget = \
said -> 'header' ->> 'budget'
                WHEN kind_ = 'amend' THEN new.share = coalesce(share_, '') AND new.budget = said \
->> 'budget'
                    AND new.spent = CASE new.share WHEN '' THEN spent_ ELSE old.spent END
                WHEN new.share IS DISTINCT FROM share_ THEN false
                WHEN kind_ = 'share' THEN old.dataset IS NULL AND new.spent ~ zeros AND \
new.budget = said ->> 'budget'
                WHEN kind_ IN ('charge', 'reserve', 'release', 'recall') THEN new.budget = \
old.budget AND reaches(new.spent, old.spent, cost, sign)
                ELSE false END, false) THEN
            RAISE integrity_constraint_violation;
        END IF;
        told := told OR new.dataset = dataset_;
        INSERT INTO balance VALUES (new.dataset, new.share, new.budget, new.spent, new.parts)
            ON CONFLICT (dataset, share) DO UPDATE SET budget = excluded.budget, spent = \
excluded.spent, parts = excluded.parts;
    END LOOP;
    IF NOT told AND (kind_ IN ('open', 'share', 'amend', 'recall') OR (share_ IS NOT NULL AND \
kind_ IN ('charge', 'reserve', 'release')))
            OR EXISTS (SELECT FROM balance WHERE dataset = last.dataset AND dataset <> dataset_ \
AND share = '' AND spent <> last.spent)
            OR state_ IS DISTINCT FROM state()
            OR digest_ IS DISTINCT FROM encode(sha256(convert_to(
                previous || E'\\n' || body_ || E'\\n' || state_ || ' ' || spent_ || ' ' || \
dataset_, 'UTF8')), 'hex') THEN
        RAISE integrity_constraint_violation;
    END IF;
    INSERT INTO entry VALUES (number_, dataset_, share_, kind_, key_, body_, digest_, spent_, \
parts_, state_);
END
"""
"""SQL function: write one entry, checked against the chain and the accounts, and update the other
tables. It runs in the transaction of the caller.
"""

TABLES = f"""
CREATE TABLE format (application TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE book (id TEXT NOT NULL);
CREATE TABLE entry (
    number BIGINT PRIMARY KEY, dataset TEXT COLLATE "C" NOT NULL, share TEXT COLLATE "C",
        kind TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C",
    body TEXT COLLATE "C" NOT NULL, digest TEXT NOT NULL, spent TEXT NOT NULL,
    parts BIGINT NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), state TEXT);
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_open ON entry (dataset) WHERE kind = 'open';
CREATE INDEX entry_amend ON entry (dataset, number) WHERE kind = 'amend';
CREATE INDEX entry_share ON entry (dataset, share, number) WHERE share IS NOT NULL;
CREATE TABLE balance (
    dataset TEXT COLLATE "C" NOT NULL, share TEXT COLLATE "C" NOT NULL, budget TEXT NOT NULL,
        spent TEXT NOT NULL,
    parts BIGINT NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), PRIMARY KEY (dataset,
        share));
CREATE TABLE reservation (number BIGINT PRIMARY KEY, state TEXT NOT NULL);
CREATE INDEX reservation_open ON reservation (number) WHERE state = 'open';
CREATE TABLE answer (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL,
        number BIGINT NOT NULL, answer BYTEA NOT NULL, PRIMARY KEY (dataset, question));
CREATE INDEX answer_number ON answer (dataset, number);
CREATE TABLE shown (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL,
        share TEXT COLLATE "C" NOT NULL, PRIMARY KEY (dataset, question, share));
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $${STAYS}$$;
CREATE FUNCTION reaches(after TEXT, before TEXT, cost TEXT, sign INTEGER) RETURNS boolean
    LANGUAGE sql SET search_path = sfumato, pg_temp AS $${REACHES}$$;
CREATE FUNCTION state() RETURNS text LANGUAGE sql SET search_path = sfumato, pg_temp AS $${STATE}$$;
CREATE FUNCTION enter(number_ BIGINT, dataset_ TEXT, share_ TEXT, kind_ TEXT, key_ TEXT,
    body_ TEXT, digest_ TEXT, spent_ TEXT, parts_ BIGINT, state_ TEXT,
        rows_ TEXT, answer_ BYTEA)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = sfumato, pg_temp
        AS $${ENTER}$$;
REVOKE ALL ON FUNCTION stays, reaches, state, enter FROM PUBLIC;
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON entry
    FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER book_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON book
    FOR EACH STATEMENT EXECUTE FUNCTION stays();
"""

SETTINGS = """
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
    current_setting('fsync'), current_setting('synchronous_commit'),
    to_regclass('sfumato.format') IS NOT NULL, EXISTS (SELECT FROM pg_class JOIN pg_namespace n
        ON n.oid = relnamespace WHERE nspname = 'sfumato')"""

FORM = """
WITH relation AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE nspname = 'sfumato')
SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, relrowsecurity, relhasrules,
    relispartition,
        (SELECT count(*) FROM pg_inherits WHERE inhparent = relation.oid)) FROM relation
UNION ALL
SELECT concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod),
    attnotnull, atthasdef,
        (SELECT collname FROM pg_collation l WHERE l.oid = attcollation))
    FROM relation JOIN pg_attribute ON attrelid = relation.oid WHERE attnum > 0
        AND relkind <> 'i' AND NOT attisdropped
UNION ALL
SELECT concat_ws(' ', 'index', indisvalid, pg_get_indexdef(indexrelid)) FROM relation
    JOIN pg_index ON indrelid = relation.oid
UNION ALL
SELECT concat_ws(' ', 'constraint', relname, contype, convalidated, CASE contype WHEN 'c'
    THEN pg_get_constraintdef(k.oid) ELSE conname::text END)
    FROM relation JOIN pg_constraint k ON conrelid = relation.oid WHERE contype <> 'n'
UNION ALL
SELECT concat_ws(' ', 'trigger', relname, tgname, tgtype, tgenabled, proname)
    FROM relation JOIN pg_trigger ON tgrelid = relation.oid JOIN pg_proc p ON p.oid = tgfoid
        WHERE NOT tgisinternal
UNION ALL
SELECT concat_ws(' ', 'function', proname, prosecdef, array_to_string(proconfig, ';'),
    encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'))
    FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = 'sfumato'
UNION ALL
SELECT concat_ws(' ', 'right', relname, grantee, privilege_type) FROM relation, aclexplode(relacl)
    WHERE grantee <> relowner AND privilege_type <> 'SELECT' AND (relname,
        privilege_type) <> ('book', 'UPDATE')
UNION ALL
SELECT concat_ws(' ', 'right', relname, attname) FROM relation JOIN pg_attribute
    ON attrelid = relation.oid WHERE attacl IS NOT NULL"""
"""Describes the tables, indexes, constraints, triggers and functions in words that are the same in
every version of the server, and lists who besides the owner may write to them.
"""


def prepare(connection: Connection, *, begin: bool, lock: int, statement: int) -> None:
    """Set up the session; check that the server can keep a ledger; create the tables if `begin`
    allows it.
    """
    connection.execute(SESSION.format(lock=lock, statement=statement), prepare=False)
    version, encoding, fsync, commit, ours, others = _read_settings(connection)
    if version < OLDEST_SERVER:
        raise refusals.SERVER_TOO_OLD(oldest=OLDEST_SERVER // 10000)
    if encoding != "UTF8":
        raise refusals.DATABASE_NOT_UTF8()
    if fsync != "on":
        raise refusals.FSYNC_OFF()
    if commit not in ("on", "remote_apply"):
        connection.execute("SET synchronous_commit TO on")
    if not ours and not others:
        if not begin:
            raise refusals.NEW_ACCOUNT_WITHOUT_BUDGET(account="a new ledger", location="url")
        _create_tables(connection)
    if ours and version_of(connection) == SECOND:
        from .postgres_upgrade import rewrite

        rewrite(connection, SECOND)
    check(connection)


def version_of(connection: Connection) -> int | None:
    """Return the version of the tables; None if they are not a ledger's."""
    rows = connection.execute("SELECT application, version FROM sfumato.format").fetchall()
    return int(rows[0][1]) if [application for application, _ in rows] == [FORMAT] else None


def check(connection: Connection) -> None:
    """Refuse a database that holds no ledger of this version."""
    *_, ours, others = _read_settings(connection)
    if not ours and not others:
        raise refusals.DATABASE_WITHOUT_LEDGER()
    version = version_of(connection) if ours else None
    if version is None:
        raise refusals.SCHEMA_NOT_A_LEDGER()
    if version != SCHEMA:
        entry = refusals.OLDER_TABLES if version == SECOND else refusals.UNKNOWN_TABLES
        raise entry(version=version, known=SCHEMA)


def structure(tx: BookTransaction) -> list[str]:
    """Compare the tables with those that the ledger creates. Checking disk pages is the server's
    job.
    """
    return [] if {line for (line,) in tx.execute(FORM)} == EXPECTED_FORM else [ALTERED]


def _read_settings(connection: Connection) -> TupleRow:
    ((*settings,),) = connection.execute(SETTINGS).fetchall()
    return tuple(settings)


def _create_tables(connection: Connection) -> None:
    """Create all tables in one transaction, unless another process did so first."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
        if not any(_read_settings(connection)[-2:]):
            connection.execute("CREATE SCHEMA IF NOT EXISTS sfumato")
            connection.execute(TABLES, prepare=False)
            connection.execute("INSERT INTO format VALUES (%s, %s)", (FORMAT, SCHEMA))


PATH = " search_path=sfumato, pg_temp"
EXPECTED_FORM = frozenset(
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
column entry 3 share text f f C
column entry 4 kind text t f C
column entry 5 key text f f C
column entry 6 body text t f C
column entry 7 digest text t f default
column entry 8 spent text t f default
column entry 9 parts bigint t f
column entry 10 state text f f default
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
index t CREATE INDEX answer_number ON sfumato.answer USING btree (dataset, number)
index t CREATE INDEX entry_amend ON sfumato.entry USING btree (dataset, number) WHERE (kind = \
'amend'::text)
index t CREATE INDEX entry_share ON sfumato.entry USING btree (dataset, share, number) WHERE \
(share IS NOT NULL)
index t CREATE INDEX reservation_open ON sfumato.reservation USING btree (number) WHERE (state = \
'open'::text)
index t CREATE UNIQUE INDEX answer_pkey ON sfumato.answer USING btree (dataset, question)
index t CREATE UNIQUE INDEX balance_pkey ON sfumato.balance USING btree (dataset, share)
index t CREATE UNIQUE INDEX entry_key ON sfumato.entry USING btree (dataset, key) WHERE (key IS \
NOT NULL)
index t CREATE UNIQUE INDEX entry_open ON sfumato.entry USING btree (dataset) WHERE (kind = \
'open'::text)
index t CREATE UNIQUE INDEX entry_pkey ON sfumato.entry USING btree (number)
index t CREATE UNIQUE INDEX reservation_pkey ON sfumato.reservation USING btree (number)
index t CREATE UNIQUE INDEX shown_pkey ON sfumato.shown USING btree (dataset, question, share)
relation answer r p f f f 0
relation answer_number i p f f f 0
relation answer_pkey i p f f f 0
relation balance r p f f f 0
relation balance_pkey i p f f f 0
relation book r p f f f 0
relation entry r p f f f 0
relation entry_amend i p f f f 0
relation entry_key i p f f f 0
relation entry_open i p f f f 0
relation entry_pkey i p f f f 0
relation entry_share i p f f f 0
relation format r p f f f 0
relation reservation r p f f f 0
relation reservation_open i p f f f 0
relation reservation_pkey i p f f f 0
relation shown r p f f f 0
relation shown_pkey i p f f f 0
trigger book book_stays 58 O stays
trigger entry entry_stays 58 O stays""".splitlines()
) | {
    f"function {name}{' t' if secure else ' f'}{path} {hashlib.sha256(source.encode()).hexdigest()}"
    for name, secure, path, source in (
        ("stays", False, "", STAYS),
        ("reaches", False, PATH, REACHES),
        ("state", False, PATH, STATE),
        ("enter", True, PATH, ENTER),
    )
}
"""The rows that FORM returns for freshly created TABLES."""
