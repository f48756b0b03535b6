"""What a service keeps beside the ledger: tokens as hashes, requests by their keys with the bytes
that were replied, overruns, and heads.

*Visible*   How a request ended is written down when it is known, with the moment from which it may
            be told: the end of its class. Until then whoever looks, in whatever process, is told
            the same as of a request that still runs, and it counts as one.
*Bodies*    are kept once, by their digest: a stored answer that is asked for under many keys takes
            its room once.
*Void*      Requests that ended long ago are let go with their replies. Of each stays a mark of 16
            bytes, so that whoever comes again under its key is told, and neither gets a second
            answer nor pays twice without knowing. Overruns are counted apart and stay.
*Heads*     With every request that ends, the end of the ledger's chain is written down, in the same
            transaction as the reply. A ledger that does not contain it is an older copy, and is
            refused: at the start, and before each request is begun.
In a SQLite file that all processes of one host share, or in PostgreSQL, which hosts share: see
`records`. A write has reached the disk when it returns.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from ..errors import Refused
from ..ledger import Ledger
from ..ledger.receipts import Head
from .store_schema import in_file, on_server

ONE = "dataset = ? AND who = ? AND key = ?"
BODIES = "SELECT media, bytes FROM reply JOIN body USING (digest) WHERE " + ONE
COUNTS = """
SELECT coalesce((SELECT count FROM overrun WHERE dataset = ? AND who = ?), 0),
    coalesce(sum(CASE WHEN state = 'lost' AND visible > ? THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN state = 'begun' OR visible > ? THEN 1 ELSE 0 END), 0)
FROM request WHERE dataset = ? AND who = ? AND until > ?"""
"""Overruns; those of them that may not be told yet; and requests under way or not to be told of
yet. What is visible later is within its `until`.
"""
OLD = """
DELETE FROM request WHERE until < ? AND (dataset, who, key) IN (SELECT dataset, who, key FROM request WHERE until < ? ORDER BY until LIMIT ?)
RETURNING dataset, who, key"""
"""Said twice: a request may have been taken up again while somebody waited for it."""
STORED = """
SELECT (SELECT count(*) FROM request WHERE dataset = ? AND who = ?),
    coalesce((SELECT sum(length(bytes)) FROM body WHERE digest IN (SELECT digest FROM reply WHERE dataset = ? AND who = ?)), 0)"""
"""Requests that are kept of somebody, and the bytes of their replies, each body once."""
ROW = 512  # bytes that a request takes beside its reply, with its places in the indexes
UNUSED = (
    "DELETE FROM body WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM reply WHERE "
    "reply.digest = body.digest)"
)


KEEP = """
INSERT INTO head VALUES (?, ?, ?)
ON CONFLICT (dataset) DO UPDATE SET number = excluded.number, head = excluded.head WHERE head.number < excluded.number"""


class Request(NamedTuple):
    """Who asked what of which dataset, under which key."""

    dataset: str
    who: str
    key: str

    @property
    def mark(self) -> bytes:
        """What stays of it for ever. No part has the character in between."""
        return hashlib.sha256("\0".join(self).encode()).digest()[:16]


class Kept(NamedTuple):
    """What is known of a request: the digest of its body, how far it came, until when it may still
    run, from when that may be told, the reply in a form.
    """

    digest: str
    state: str  # begun, done or lost
    until: float
    visible: float
    reply: bytes | None


class Limited(Exception):
    """Somebody has as many overruns as are allowed, or would have if all that is under way became
    one.
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
    made: int
    expires: int
    revoked: int


class State:
    """The file, or the database, with one connection in this process; of a file a second one, to
    look with while the first one writes.
    """

    def __init__(self, place: str) -> None:
        self._server = place.lower().startswith(("postgres://", "postgresql://"))
        self._place = place
        self._lock = threading.RLock()
        self._connection: Any = None
        self._looking = threading.Lock()
        self._looks: Any = None
        self._ledgers: dict[str, Ledger] = {}

    @property
    def quick(self) -> bool:
        """Whether a look at it may be had in the event loop: a file answers in microseconds, and a
        reader waits for nobody.
        """
        return not self._server

    def open(self) -> None:
        """See that the records are there and are ours, as the first use of them would."""
        self._read("SELECT 1")

    def token(self, id: str) -> TokenRow | None:  # noqa: A002
        rows = self._read("SELECT * FROM token WHERE id = ?", (id,))
        return TokenRow(*rows[0]) if rows else None

    def tokens(self) -> list[TokenRow]:
        return [TokenRow(*row) for row in self._read("SELECT * FROM token ORDER BY made, id")]

    def add_token(self, row: TokenRow) -> None:
        with self._writing() as run:
            run("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def revoke(self, id: str) -> bool:  # noqa: A002
        with self._writing() as run:
            return bool(
                run(
                    "UPDATE token SET revoked = ? WHERE id = ? AND revoked = 0 RETURNING id",
                    (int(time.time()), id),
                )
            )

    def kept(self, request: Request, media: str) -> Kept | None:
        """What is known of a request. Refused, where it was let go."""
        body = f"SELECT bytes FROM reply JOIN body USING (digest) WHERE {ONE} AND media = ?"
        rows = self._read(
            f"SELECT digest, state, until, visible, ({body}) FROM request WHERE {ONE}",
            (*request, media, *request),
        )
        if not rows:
            self._not_void(self._read, request)
            return None
        digest, state, until, visible, reply = rows[0]
        return Kept(digest, state, until, visible, None if reply is None else bytes(reply))

    def begin(self, request: Request, digest: str, until: float, limit: int | None = None) -> bool:
        """Whether this request is now ours to answer: nobody has asked it under this key before.
        `Limited` where overruns could come to more than a limit.
        """
        statement = (
            "INSERT INTO request VALUES (?, ?, ?, ?, 'begun', ?, ?, 0, NULL) ON CONFLICT DO "
            "NOTHING RETURNING key"
        )
        self.hold(request.dataset)
        with self._writing() as run:
            if (
                limit is not None
            ):  # one after the other: on a server, whoever comes second waits for this row
                run(
                    (
                        "INSERT INTO overrun VALUES (?, ?, 0) ON CONFLICT (dataset, who) DO "
                        "UPDATE SET count = overrun.count"
                    ),
                    (request.dataset, request.who),
                )
                told, running = self._counts(run, request.dataset, request.who)
                if told + running >= limit:
                    raise Limited(reached=told >= limit)
            ours = bool(run(statement, (*request, digest, time.time(), until)))
            self._not_void(
                run, request
            )  # after that: on a server it waited for whoever lets this request go
            return ours

    def head(self, dataset: str) -> Head | None:
        """The last entry of a dataset's ledger that the service knows of."""
        rows = self._read("SELECT head FROM head WHERE dataset = ?", (dataset,))
        return Head.read(rows[0][0]) if rows else None

    def follow(self, dataset: str, ledger: Ledger) -> None:
        """Keep the head of a ledger from here on: whenever a request ends."""
        self._ledgers[dataset] = ledger
        with self._writing() as run:
            self._note(run, dataset)

    def hold(self, dataset: str) -> None:
        """Refuse a ledger that does not contain the head that was kept of it: an older copy was put
        in its place.
        """
        ledger, kept = self._ledgers.get(dataset), self.head(dataset)
        if ledger is not None and kept is not None:
            ledger.hold(kept)

    def _note(self, run: Any, dataset: str) -> None:
        """Keep the head that a ledger has now. A ledger that cannot be read is no reason to lose a
        reply: whoever asks next is told.
        """
        with suppress(Refused):
            if dataset in self._ledgers:
                head = self._ledgers[dataset].head
                run(KEEP, (dataset, head.number, str(head)))

    def told(self, dataset: str, who: str) -> int:
        """How many overruns of somebody have been told to them."""
        return self._counts(self._read, dataset, who)[0]

    def stored(self, dataset: str, who: str) -> int:
        """How many bytes are kept for somebody: requests and replies."""
        ((requests, bodies),) = self._read(STORED, (dataset, who, dataset, who))
        return ROW * int(requests) + int(bodies)

    def given(self, dataset: str, who: str, entry: int) -> bool:
        """Whether the answer that an entry paid for has been given to somebody."""
        statement = (
            "SELECT 1 FROM request WHERE dataset = ? AND who = ? AND entry = ? AND state = "
            "'done' AND visible <= ? LIMIT 1"
        )
        return bool(self._read(statement, (dataset, who, entry, time.time())))

    def again(self, request: Request, before: float, until: float) -> bool:
        """Whether a request that somebody began, and had time for until `before`, is now ours to
        look after.
        """
        with self._writing() as run:
            found = run(
                (
                    f"UPDATE request SET until = ? WHERE {ONE} AND state = 'begun' AND until "
                    f"= ? RETURNING key"
                ),
                (until, *request, before),
            )
        return bool(found)

    def store(
        self,
        request: Request,
        replies: dict[str, bytes],
        *,
        visible: float = 0.0,
        entry: int | None = None,
    ) -> dict[str, bytes]:
        """Store what is replied, before a byte of it leaves; what is stored then. What was there
        stays, and so does a request that is lost: nothing is.
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
                for media, body in replies.items():
                    digest = hashlib.sha256(body).hexdigest()
                    run("INSERT INTO body VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, body))
                    run(
                        "INSERT INTO reply VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        (*request, media, digest),
                    )
            self._note(run, request.dataset)
            return {media: bytes(body) for media, body in run(BODIES, tuple(request))}

    def lose(self, request: Request, *, visible: float = 0.0, overran: bool = False) -> None:
        """No answer was stored, and none will be under this key; an overrun is counted together
        with that.
        """
        with self._writing() as run:
            found = run(
                (
                    f"UPDATE request SET state = 'lost', visible = ? WHERE {ONE} AND state = "
                    f"'begun' RETURNING key"
                ),
                (visible, *request),
            )
            self._note(run, request.dataset)
            if found and overran:
                run(
                    (
                        "INSERT INTO overrun VALUES (?, ?, 1) ON CONFLICT (dataset, who) DO "
                        "UPDATE SET count = overrun.count + 1"
                    ),
                    (request.dataset, request.who),
                )

    def forget(self, request: Request) -> None:
        """A request that was refused: its key is free again."""
        with self._writing() as run:
            run(f"DELETE FROM request WHERE {ONE} AND state = 'begun'", tuple(request))

    def let_go(self, before: float, most: int) -> int:
        """Let go of requests that had ended before a moment, at most so many of them; how many
        there were.
        """
        with self._writing() as run:
            gone = [Request(*row) for row in run(OLD, (before, before, most))]
            if (
                gone and self._server
            ):  # whoever is about to use bytes that are there has done so, or waits
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
        """All of them, by name, also those that are not to be told to who asked yet: for the
        owner.
        """
        return {
            who: int(count)
            for who, count in self._read(
                "SELECT who, count FROM overrun WHERE dataset = ? AND count > 0 ORDER BY who",
                (dataset,),
            )
        }

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        with self._looking:
            if self._looks is not None:
                self._looks.close()
                self._looks = None

    def _not_void(self, run: Any, request: Request) -> None:
        if run("SELECT 1 FROM void WHERE mark = ?", (request.mark,)):
            reason = (
                "it was used so long ago that its reply is not kept any more; nothing was "
                "charged now"
            )
            raise Refused(
                "server.void",
                "Idempotency-Key",
                reason,
                "a new key: a new charge, unless the ledger has the answer",
            )

    def _counts(self, run: Any, dataset: str, who: str) -> tuple[int, int]:
        """Overruns that have been told to somebody, and requests that may be one yet, or are and
        have not been told.
        """
        now = time.time()
        ((count, silent, running),) = run(COUNTS, (dataset, who, now, now, dataset, who, now))
        return int(count) - int(silent), int(running)

    def _read(self, statement: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
        """Of what is written down: in a file without waiting for who writes, in this process or in
        another.
        """
        if self._server or self._place == ":memory:":
            with self._lock, self._explained():
                return self._run(statement, bindings)
        with self._looking, self._explained():
            if self._looks is None:
                self._looks = in_file(self._place)
            return self._looks.execute(statement, bindings).fetchall()  # type: ignore[no-any-return]

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """One durable transaction; anything raised inside undoes it."""
        with self._lock, self._explained():
            self._run("BEGIN" if self._server else "BEGIN IMMEDIATE")
            try:
                yield self._run
                self._run("COMMIT")
            except BaseException:
                with suppress(Exception):
                    self._run("ROLLBACK")
                raise

    def _run(self, statement: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
        if self._connection is None or (self._server and self._connection.closed):
            self._connection = on_server(self._place) if self._server else in_file(self._place)
        if not self._server:
            return self._connection.execute(statement, bindings).fetchall()  # type: ignore[no-any-return]
        found = self._connection.execute(statement.replace("?", "%s"), bindings)
        return found.fetchall() if found.description else []

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Storage errors as one refusal, which quotes nothing of the storage's."""
        try:
            yield
        except Refused:
            raise
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("apsw", "psycopg", "builtins"):
                raise
            raise Refused(
                "server.storage",
                "the service's own records",
                "they cannot be read or written",
                "see to the disk or the database",
            ) from None
