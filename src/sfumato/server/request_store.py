"""The service's own records: token hashes, requests by key with their reply bytes, questions as
typed, overruns, and ledger heads.

*Visible*   The store records the outcome of a request at once, with the time from which it may be
            told: the end of its deadline class. Until then every process answers as if the request
            were still running, and counts it as running.
*Bodies*    are stored once, by digest: an answer released under many keys takes its bytes once.
*Void*      Old requests are deleted with their replies. A mark of 16 bytes stays of each, so that a
            client that uses the key again is told, and neither gets a second answer nor pays twice
            unknowingly. Overruns are counted apart and stay.
*Asked*     The text of a question stays as it was typed, for as long as the ledger has its entry.
            There is one for each charge: the least cost of a release bounds their number.
*Heads*     When a request ends, the store records the head of the ledger in the same transaction as
            the reply. A ledger that does not contain this head is an older copy. The service
            refuses it at start, and before each request.
The records are in a SQLite file, shared by the processes of one host, or in PostgreSQL, shared by
hosts: see `store_schema`. A write has reached the disk when it returns.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from ..errors import Refused
from ..ledger import Ledger
from ..ledger.receipts import Head
from ..storage.sqlite_store import Bindings, Row
from . import server_refusals as refusals
from .store_schema import FileRecords, open_records

ONE = "dataset = ? AND who = ? AND key = ?"
BODIES = "SELECT media, bytes FROM reply JOIN body USING (digest) WHERE " + ONE
COUNTS = """
SELECT coalesce((SELECT count FROM overrun WHERE dataset = ? AND who = ?), 0),
    coalesce(sum(CASE WHEN state = 'lost' AND visible > ? THEN 1 ELSE 0 END), 0),
        coalesce(sum(CASE WHEN state = 'begun' OR visible > ? THEN 1 ELSE 0 END), 0)
FROM request WHERE dataset = ? AND who = ? AND until > ?"""
"""Overruns; overruns that may not be told yet; and requests that run or may not be told yet. A
request that becomes visible later is within its `until`.
"""
OLD = """
DELETE FROM request WHERE until < ? AND (dataset, who, key) IN (SELECT dataset, who, key
    FROM request WHERE until < ? ORDER BY until LIMIT ?)
RETURNING dataset, who, key"""
"""The outer WHERE checks `until` again: a request may have been taken over meanwhile."""
STORED = """
SELECT (SELECT count(*) FROM request WHERE dataset = ? AND who = ?),
    coalesce((SELECT sum(length(bytes)) FROM body WHERE digest IN (SELECT digest FROM reply
        WHERE dataset = ? AND who = ?)), 0)"""
"""The number of stored requests of an analyst, and the bytes of their replies, each body once."""
VERIFIERS = """
SELECT token.*, verifier FROM token JOIN scram ON scram.token = token.id
WHERE name = ? AND revoked = 0 AND expires > ? ORDER BY made DESC, id LIMIT 32"""
ROW = 512  # bytes of a request without its reply, with its index entries
UNUSED = (
    "DELETE FROM body WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM reply WHERE "
    "reply.digest = body.digest)"
)


KEEP = """
INSERT INTO head VALUES (?, ?, ?)
ON CONFLICT (dataset) DO UPDATE SET number = excluded.number, head = excluded.head
    WHERE head.number < excluded.number"""


KEEP_QUESTION = """
INSERT INTO asked VALUES (?, ?, ?, ?, ?)
ON CONFLICT (dataset, entry, who) DO UPDATE SET sql = excluded.sql WHERE asked.sql = ''"""


class Run(Protocol):
    """Runs a statement in the open transaction, and returns its rows."""

    def __call__(self, statement: str, bindings: Bindings = ..., /) -> list[Row]: ...


class RequestKey(NamedTuple):
    """The identity of a request: dataset, analyst, and the client's key."""

    dataset: str
    who: str
    key: str

    @property
    def mark(self) -> bytes:
        """The mark that stays for ever. No part contains the separator."""
        return hashlib.sha256("\0".join(self).encode()).digest()[:16]


class StoredRequest(NamedTuple):
    """The record of a request: the digest of its question, its state, until when it may run, from
    when its outcome may be told, and the reply in one media type.
    """

    digest: str
    state: str  # begun, done or lost
    until: float
    visible: float
    reply: bytes | None


class Limited(Exception):
    """An analyst has reached the limit of overruns (`reached`), or would if all running requests
    became overruns.
    """

    def __init__(self, *, reached: bool) -> None:
        super().__init__("limited")
        self.reached = reached


class TokenRow(NamedTuple):
    id: str
    hash: str
    name: str
    role: str
    datasets: str
    created: int
    expires: int
    revoked: int


class RequestStore:
    """The records in a file or database, with one connection per process; for a file a second one,
    which reads while the first one writes.
    """

    def __init__(self, place: str) -> None:
        self._store = open_records(place)
        self._server = not isinstance(self._store, FileRecords)
        self._reader = self._store if self._store.path is None else open_records(place)
        self._ledgers: dict[str, Ledger] = {}

    @property
    def is_quick(self) -> bool:
        """Whether the event loop may read directly: a file answers in microseconds, and its readers
        never wait.
        """
        return not self._server

    def open(self) -> None:
        """Open the records, and refuse if they are not ours."""
        self._read("SELECT 1")

    def token(self, token_id: str) -> TokenRow | None:
        rows = self._read("SELECT * FROM token WHERE id = ?", (token_id,))
        return TokenRow(*rows[0]) if rows else None

    def tokens(self) -> list[TokenRow]:
        return [TokenRow(*row) for row in self._read("SELECT * FROM token ORDER BY made, id")]

    def add_token(self, row: TokenRow, verifier: str) -> None:
        """Record a token, with its verifier for the PostgreSQL wire."""
        with self._writing() as run:
            run("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))
            run("INSERT INTO scram VALUES (?, ?)", (row.id, verifier))

    def verifiers(self, name: str, now: float) -> list[tuple[TokenRow, str]]:
        """Return the valid tokens of a name that have verifiers, the newest first."""
        rows = self._read(VERIFIERS, (name, now))
        return [(TokenRow(*row[:-1]), row[-1]) for row in rows]

    def revoke(self, token_id: str) -> bool:
        with self._writing() as run:
            return bool(
                run(
                    "UPDATE token SET revoked = ? WHERE id = ? AND revoked = 0 RETURNING id",
                    (int(time.time()), token_id),
                )
            )

    def find(self, request: RequestKey, media: str) -> StoredRequest | None:
        """Return the record of a request, or None. Refuse a request that was deleted."""
        body = f"SELECT bytes FROM reply JOIN body USING (digest) WHERE {ONE} AND media = ?"
        rows = self._read(
            f"SELECT digest, state, until, visible, ({body}) FROM request WHERE {ONE}",
            (*request, media, *request),
        )
        if not rows:
            self._check_not_void(self._read, request)
            return None
        digest, state, until, visible, reply = rows[0]
        return StoredRequest(digest, state, until, visible, None if reply is None else bytes(reply))

    def begin(
        self, request: RequestKey, digest: str, until: float, limit: int | None = None
    ) -> bool:
        """Record a new request. Returns False if the key is in use already; raises `Limited` if
        overruns could exceed the limit.
        """
        statement = (
            "INSERT INTO request VALUES (?, ?, ?, ?, 'begun', ?, ?, 0, NULL) ON CONFLICT DO "
            "NOTHING RETURNING key"
        )
        self.check_head(request.dataset)
        with self._writing() as run:
            if limit is not None:  # in turn: on a server, a second request waits for this row
                run(
                    (
                        "INSERT INTO overrun VALUES (?, ?, 0) ON CONFLICT (dataset, who) DO "
                        "UPDATE SET count = overrun.count"
                    ),
                    (request.dataset, request.who),
                )
                overruns, running = self._count_told_and_running(run, request.dataset, request.who)
                if overruns + running >= limit:
                    raise Limited(reached=overruns >= limit)
            ours = bool(run(statement, (*request, digest, time.time(), until)))
            # afterwards: on a server the INSERT waited for a process that deletes this request
            self._check_not_void(run, request)
            return ours

    def head(self, dataset: str) -> Head | None:
        """Return the recorded head of a dataset's ledger."""
        rows = self._read("SELECT head FROM head WHERE dataset = ?", (dataset,))
        return Head.read(rows[0][0]) if rows else None

    def follow(self, dataset: str, ledger: Ledger) -> None:
        """Record the head of a ledger now, and whenever a request ends."""
        self._ledgers[dataset] = ledger
        with self._writing() as run:
            self._record_head(run, dataset)

    def check_head(self, dataset: str) -> None:
        """Refuse a ledger that does not contain its recorded head: an older copy replaced it."""
        ledger, expected = self._ledgers.get(dataset), self.head(dataset)
        if ledger is not None and expected is not None:
            ledger.hold(expected)

    def _record_head(self, run: Run, dataset: str) -> None:
        """Record the current head of a ledger. An unreadable ledger does not lose the reply: the
        next request is refused.
        """
        with suppress(Refused):
            if dataset in self._ledgers:
                head = self._ledgers[dataset].head
                run(KEEP, (dataset, head.number, str(head)))

    def count_overruns(self, dataset: str, who: str) -> int:
        """Return the number of overruns that an analyst has been told of."""
        return self._count_told_and_running(self._read, dataset, who)[0]

    def stored_bytes(self, dataset: str, who: str) -> int:
        """Return the bytes stored for an analyst: requests and replies."""
        ((requests, bodies),) = self._read(STORED, (dataset, who, dataset, who))
        return ROW * int(requests) + int(bodies)

    def has_received(self, dataset: str, who: str, entry: int) -> bool:
        """Whether an analyst has received the answer that an entry paid for."""
        statement = (
            "SELECT 1 FROM asked WHERE dataset = ? AND who = ? AND entry = ? AND visible <= ?"
        )
        return bool(self._read(statement, (dataset, who, entry, time.time())))

    def questions(
        self, dataset: str, entries: range, who: str | None = None
    ) -> dict[tuple[str, int], str]:
        """Return questions as typed, by analyst and entry: those of an analyst whose replies have
        left, or everybody's.
        """
        whose = "" if who is None else "AND who = ? AND visible <= ?"
        rows = self._read(
            "SELECT who, entry, sql FROM asked "
            f"WHERE dataset = ? AND entry >= ? AND entry < ? {whose}",
            (dataset, entries.start, entries.stop, *(() if who is None else (who, time.time()))),
        )
        return {(name, int(entry)): sql for name, entry, sql in rows}

    def take_over(self, request: RequestKey, before: float, until: float) -> bool:
        """Take over a request whose time ended at `before`. Returns False if another process did so
        first.
        """
        with self._writing() as run:
            rows = run(
                (
                    f"UPDATE request SET until = ? WHERE {ONE} AND state = 'begun' AND until "
                    f"= ? RETURNING key"
                ),
                (until, *request, before),
            )
        return bool(rows)

    def store(
        self,
        request: RequestKey,
        replies: dict[str, bytes],
        *,
        visible: float = 0.0,
        entry: int | None = None,
        sql: str = "",
    ) -> dict[str, bytes]:
        """Store the replies before a byte leaves, and return the stored ones. Earlier replies stay;
        a lost request stays lost. With an entry of the ledger, store the text of the question.
        """
        with self._writing() as run:
            run(
                (
                    f"UPDATE request SET state = 'done', visible = ?, entry = ? WHERE {ONE} "
                    f"AND state = 'begun'"
                ),
                (visible, entry, *request),
            )
            if run(
                (
                    f"SELECT 1 FROM request WHERE {ONE} AND state = "
                    f"'done'{' FOR SHARE' if self._server else ''}"
                ),
                tuple(request),
            ):
                if entry is not None:
                    run(KEEP_QUESTION, (request.dataset, request.who, entry, sql, visible))
                for media, body in replies.items():
                    digest = hashlib.sha256(body).hexdigest()
                    run("INSERT INTO body VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, body))
                    run(
                        "INSERT INTO reply VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        (*request, media, digest),
                    )
            self._record_head(run, request.dataset)
            return {media: bytes(body) for media, body in run(BODIES, tuple(request))}

    def mark_lost(
        self, request: RequestKey, *, visible: float = 0.0, overran: bool = False
    ) -> None:
        """Mark a request as lost: its key will never have an answer. Counts an overrun in the same
        transaction.
        """
        with self._writing() as run:
            rows = run(
                (
                    f"UPDATE request SET state = 'lost', visible = ? WHERE {ONE} AND state = "
                    f"'begun' RETURNING key"
                ),
                (visible, *request),
            )
            self._record_head(run, request.dataset)
            if rows and overran:
                run(
                    (
                        "INSERT INTO overrun VALUES (?, ?, 1) ON CONFLICT (dataset, who) DO "
                        "UPDATE SET count = overrun.count + 1"
                    ),
                    (request.dataset, request.who),
                )

    def forget(self, request: RequestKey) -> None:
        """Delete a refused request: its key is free again."""
        with self._writing() as run:
            run(f"DELETE FROM request WHERE {ONE} AND state = 'begun'", tuple(request))

    def drop_old(self, before: float, most: int) -> int:
        """Delete at most `most` requests that ended before a time. Returns their number."""
        with self._writing() as run:
            gone = [RequestKey(*row) for row in run(OLD, (before, before, most))]
            if gone and self._server:  # other writers have stored their use of these bytes, or wait
                run("LOCK TABLE body IN SHARE ROW EXCLUSIVE MODE")
            bodies: set[str] = set()
            for request in gone:
                run("INSERT INTO void VALUES (?) ON CONFLICT DO NOTHING", (request.mark,))
                bodies |= {
                    digest
                    for (digest,) in run(
                        f"DELETE FROM reply WHERE {ONE} RETURNING digest", tuple(request)
                    )
                }
            for digest in bodies:
                run(UNUSED, (digest,))
        return len(gone)

    def overruns(self, dataset: str) -> dict[str, int]:
        """Return all overruns by analyst, for the owner, including those not told to the analyst
        yet.
        """
        return {
            who: int(count)
            for who, count in self._read(
                "SELECT who, count FROM overrun WHERE dataset = ? AND count > 0 ORDER BY who",
                (dataset,),
            )
        }

    def close(self) -> None:
        self._store.close()
        self._reader.close()

    def _check_not_void(self, run: Run, request: RequestKey) -> None:
        if run("SELECT 1 FROM void WHERE mark = ?", (request.mark,)):
            raise refusals.KEY_EXPIRED()

    def _count_told_and_running(self, run: Run, dataset: str, who: str) -> tuple[int, int]:
        """Return the overruns told to an analyst, and the requests that may become overruns or are
        untold ones.
        """
        now = time.time()
        ((count, silent, running),) = run(COUNTS, (dataset, who, now, now, dataset, who, now))
        return int(count) - int(silent), int(running)

    def _read(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        """Run a query. On a file it waits for no writer."""
        return self._reader.read(statement, bindings)

    @contextmanager
    def _writing(self) -> Iterator[Run]:
        """Open a durable transaction; anything raised inside rolls it back."""
        with self._store.writing() as tx:
            yield tx.fetch
