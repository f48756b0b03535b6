"""A book on a server: what goes wrong between the two, and what is said then. What both kinds of
books do is tested where it is tested for files.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.ledger import book_queries, reading
from sfumato.ledger.entries import AccountRow, Standing, seal_entry
from sfumato.ledger.ledger_refusals import NOTHING_ACCEPTED, UNSURE
from sfumato.ledger.storage import postgres_book
from sfumato.storage import postgres_store
from sfumato.storage.database_url import Url
from sfumato.testing.ledger_fixtures import fill

from ..refusing import refusing
from .books import HERE, open_book
from .proxy import CUTS, Wire
from .servers import PostgresServer, running
from .test_failures import SECRET, life
from .test_sqlite_store import interrupted

PASSWORD = "correct-horse-battery"


def check(caught: sf.Refused, *codes: str) -> None:
    assert caught.code in codes
    text = str(caught)
    assert any(
        words in text
        for words in ("nothing was accepted", "no receipt was given", "nothing was changed")
    )
    assert "Anna" not in text
    assert not re.search(r"patient|visits|/dev|/tmp|host=|SELECT|INSERT", text)
    assert caught.__cause__ is None
    assert caught.__suppress_context__


def through(wire: Wire, url: str) -> str:
    return re.sub(r"host=.*", f"host={wire.folder}", url)


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", CUTS)
def test_attack_f10_the_wire_is_cut_at_every_message(
    how: str, every: int, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first, second, … message that the book sends, or at every eleventh, until a whole life
    passes without a cut. Where nothing was under way the book connects anew.
    """
    monkeypatch.setattr(postgres_store, "SILENCE", 0.3)
    url, refused, stood = server.new(), 0, 0
    at, every = (
        (4, 3 * every) if how == "silent" else (0, every)
    )  # a connection that is not answered is given up after ten seconds
    while True:
        server.clear(url)
        notes: list[str] = []
        with Wire(server.folder, at, how) as wire:
            unsure = False
            try:
                life(through(wire, url), notes)  # type: ignore[arg-type]  # a URL is text
            except sf.Refused as caught:
                check(caught, "ledger.server")
                unsure = UNSURE in caught.reason
                refused += 1
            if not wire.cut:
                break
        heads = [line for line in notes if line != "closing"]
        acknowledged = int(heads[-1].split(":")[1]) if heads else 0
        after = open_book(url, 10) if len(heads) < 9 else sf.Ledger.open(url)
        checked = after.verify(heads[-1] if heads else None)
        assert checked.ok, checked.problems
        entries = max(after.head.number, 1)
        assert entries in (
            {max(acknowledged, 1), acknowledged + 1} if unsure else {max(acknowledged, 1)}
        )
        stood += entries > max(acknowledged, 1)
        after.charge(sf.Pure(1))
        after.close()
        at += every
    assert refused > 30 / every
    assert not stood or how == "unheard"  # a commit that was done and not heard of
    assert stood or how != "unheard" or every > 1


def test_a_commit_that_was_not_heard_of_is_found_by_its_key(server: PostgresServer) -> None:
    url = server.new()
    open_book(url, 10).close()
    ledger = open_book(url, 10)
    with Wire(server.folder, how="unheard") as wire:
        ledger._store._url = Url(  # type: ignore[attr-defined]  # a store on PostgreSQL
            through(wire, url)
        )
        ledger.close()
        for key in ("first", "second"):  # from here on the statements are prepared
            ledger.charge(sf.Pure(1), key=key)
        wire.left = 4  # begin and lock, look, is the key known, write; the fifth is the commit
        with refusing("ledger.server") as caught:
            ledger.charge(sf.Pure(1), key="third")
        assert UNSURE in caught.value.reason
        assert "same key" in caught.value.rewrite
        assert ledger.charge(sf.Pure(1), key="third").repeated
        assert ledger.head.number - 1 == ledger.spent.parameters["epsilon"] == 3


def test_an_idle_connection_that_broke_is_made_anew(server: PostgresServer) -> None:
    ledger = open_book(server.new(), 10)
    for _ in range(3):
        server.sql(
            server.url(),
            (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                "application_name = 'sfumato'"
            ),
        )
        ledger.charge(sf.Pure(1))
    assert ledger.head.number == 4
    ledger.close()


def test_the_server_is_stopped_and_started_again() -> None:
    with running() as server:
        url = server.new()
        ledger = open_book(url, 10)
        ledger.charge(sf.Pure(1))
        server.stop()
        asks = (
            lambda: ledger.charge(sf.Pure(1), SECRET),
            lambda: ledger.reserve(sf.Pure(1)),
            lambda: open_book(url),
            lambda: ledger.amend(sf.Pure(3), SECRET),
        )
        for ask in asks:
            with pytest.raises(sf.Refused) as caught:
                ask()
            check(caught.value, "ledger.server")
        with refusing("ledger.server"):
            _ = ledger.spent
        server.start()
        assert ledger.charge(sf.Pure(1)).number == 3
        ledger.close()


def test_a_server_that_does_not_sync_is_refused() -> None:
    with running(fsync="off") as server:
        url = server.new()
        with refusing("ledger.storage") as caught:
            open_book(url)
        assert "fsync" in caught.value.reason
        assert server.sql(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'sfumato'") == [
            (0,)
        ]


def test_commits_are_synchronous_whatever_the_role_says(server: PostgresServer) -> None:
    url = server.new()
    for value, used in (
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "on"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ):
        server.sql(
            url,
            f"ALTER DATABASE {url.split('/')[3].split('?')[0]} SET synchronous_commit TO {value}",
        )
        ledger = open_book(url)
        with ledger._store.writing() as tx:
            assert tx.execute("SHOW synchronous_commit").fetchall() == [(used,)]
            assert tx.execute("SHOW transaction_isolation").fetchall() == [("serializable",)]
        ledger.close()


def test_a_commit_that_waits_for_a_standby_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is on one disk, and was to be on two: no receipt. Silence is given up; a wait that
    somebody cancels ends with a warning, which counts as well.
    """
    with running() as server:
        url = server.new()
        ledger = open_book(url, 10)
        server.sql(url, "ALTER SYSTEM SET synchronous_standby_names TO nobody")
        server.sql(url, "SELECT pg_reload_conf()")
        time.sleep(0.2)
        monkeypatch.setattr(postgres_store, "SILENCE", 0.5)
        with pytest.raises(sf.Refused) as caught:
            ledger.charge(sf.Pure(1), key="a")
        check(caught.value, "ledger.server")
        assert UNSURE in caught.value.reason
        monkeypatch.setattr(postgres_store, "SILENCE", 30)

        def cancel() -> None:
            while not done.wait(0.05):
                server.sql(
                    server.url(),
                    (
                        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE "
                        "wait_event = 'SyncRep'"
                    ),
                )

        done = threading.Event()
        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with pytest.raises(sf.Refused) as caught:
                ledger.charge(sf.Pure(1), key="b")
        finally:
            done.set()
            thread.join()
        check(caught.value, "ledger.server")
        assert UNSURE in caught.value.reason
        server.sql(url, "ALTER SYSTEM RESET synchronous_standby_names")
        server.sql(url, "SELECT pg_reload_conf()")
        time.sleep(0.2)
        assert [ledger.charge(sf.Pure(1), key=key).repeated for key in "abc"] == [True, True, False]
        assert ledger.verify(ledger.head).ok
        ledger.close()


def test_attack_f10_a_lock_that_is_never_released(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_book, "PATIENCE", 40)
    url = server.new()
    ledger = open_book(url, 10)
    ledger.allow("bob", sf.Pure(1))
    ledger.remember(ledger.charge(sf.Pure(1)), SECRET, b"1")
    length = ledger.head.number
    with psycopg.connect(url) as blocker:
        blocker.execute("LOCK TABLE sfumato.book IN EXCLUSIVE MODE")
        asks: list[Callable[[], object]] = [
            lambda: ledger.charge(sf.Pure(1), SECRET),
            lambda: ledger.reserve(sf.Pure(1)),
            lambda: ledger.allow("alice", sf.Pure(1)),
            lambda: ledger.amend(sf.Pure(3), SECRET),
            lambda: ledger.recall(SECRET, share="bob"),
            lambda: sf.Ledger.open(url),
        ]
        for ask in asks:
            with pytest.raises(sf.Refused) as caught:
                ask()
            check(caught.value, "ledger.busy")
        assert ledger.spent == sf.Pure(
            1, relation="add-remove", unit="patient"
        )  # reading goes on meanwhile
        with reading(url) as book:
            assert book.verify(ledger.head).ok
        blocker.rollback()
    assert ledger.charge(sf.Pure(1)).number == length + 1
    ledger.close()


TRIGGER = """
CREATE FUNCTION public.meddle() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {} RETURN NEW; END$$;
CREATE TRIGGER meddle BEFORE INSERT ON sfumato.entry
    FOR EACH ROW EXECUTE FUNCTION public.meddle()"""


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("PERFORM pg_sleep(20);", "ledger.busy"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '53100';", "ledger.full"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '58030';", "ledger.io"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '42501';", "ledger.read-only"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '25006';", "ledger.read-only"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = 'XX001';", "ledger.corrupt"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '23514';", "ledger.storage"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '22012';", "ledger.storage"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '40P01';", "ledger.busy"),
        ("RAISE EXCEPTION 'Anna Karenina' USING ERRCODE = '53200';", "ledger.server"),
        ("PERFORM pg_terminate_backend(pg_backend_pid());", "ledger.server"),
    ],
    ids=[
        "timeout",
        "full",
        "io",
        "privilege",
        "read-only",
        "damage",
        "check",
        "other",
        "deadlock",
        "memory",
        "terminated",
    ],
)
def test_attack_f10_every_error_of_the_server(
    deed: str, code: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_book, "PATIENCE", 100)
    url = server.new()
    ledger = open_book(url, 10)
    ledger.charge(sf.Pure(1))
    server.sql(url, TRIGGER.format(deed))
    for ask in (
        lambda: ledger.charge(sf.Pure(1), SECRET, key="k"),
        lambda: ledger.allow("alice", sf.Pure(1)),
        lambda: ledger.amend(sf.Pure(20), SECRET),
    ):
        with pytest.raises(sf.Refused) as caught:
            ask()
        check(caught.value, code)
        assert NOTHING_ACCEPTED in caught.value.reason
    assert ledger.head.number == 2
    server.sql(url, "DROP FUNCTION public.meddle CASCADE")
    assert not ledger.charge(sf.Pure(1), SECRET, key="k").repeated
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_a_charge_that_others_undo_is_tried_again(server: PostgresServer) -> None:
    """Before the commit, and the server said so: nothing stands, so a second try is a first one."""
    url = server.new()
    ledger = open_book(url, 10)
    server.sql(url, "CREATE SEQUENCE public.tries")
    server.sql(
        url,
        TRIGGER.format(
            "IF nextval('public.tries') <= 3 THEN RAISE EXCEPTION 'again' USING ERRCODE "
            "= '40001'; END IF;"
        ),
    )
    receipt = ledger.charge(sf.Pure(1))
    assert (receipt.number, receipt.repeated) == (2, False)
    server.sql(url, "ALTER SEQUENCE public.tries RESTART")
    with refusing("ledger.busy") as caught:
        ledger.allow("alice", sf.Pure(1))
    check(caught.value, "ledger.busy")
    assert ledger.head.number == 2


def test_an_error_that_was_swallowed_is_no_commit(server: PostgresServer) -> None:
    """PostgreSQL answers such a COMMIT with a ROLLBACK, and no error."""
    ledger = open_book(server.new(), 10)
    with refusing("ledger.busy") as caught, ledger._store.writing() as tx:
        book_queries.begin(tx, "another book")
        with pytest.raises(psycopg.Error):
            tx.execute("SELECT 1 / 0")
    check(caught.value, "ledger.busy")
    assert ledger.head.number == 1


def test_what_is_raised_inside_undoes_everything(server: PostgresServer) -> None:
    ledger = open_book(server.new(), 10)
    for error in (KeyboardInterrupt, sf.Refused, ValueError):
        with pytest.raises(error):
            interrupted(ledger, error("a", "b", "c"))
        assert ledger.head.number == 1
    with refusing("ledger.storage"), ledger._store.writing():
        ledger.charge(sf.Pure(1))
    assert ledger.charge(sf.Pure(1)).number == 2


def test_threads_share_a_connection(server: PostgresServer) -> None:
    ledger, granted = open_book(server.new(), 20), []

    def work() -> None:
        for _ in range(10):
            try:
                granted.append(ledger.charge(sf.Pure(1)).number)
            except sf.BudgetExceeded:
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == list(range(2, 22))


FORKS = """
import os, sys
import sfumato as sf
about = {"unit": "patient", "relation": "add-remove"}
ledger = sf.Ledger.open(sys.argv[1], budget=sf.Pure(100), dataset="visits", **about)
ledger.charge(sf.Pure(1))
child = os.fork()
if child == 0:
    try:
        ledger.charge(sf.Pure(1))
        os._exit(0)
    except BaseException:
        os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
ledger.charge(sf.Pure(1))
with ledger._store.writing() as tx:  # in the middle of a transaction the child may not end it
    child = os.fork()
    if child == 0:
        try:
            tx.__exit__(None, None, None)
        except sf.Refused as refused:
            os._exit(0 if refused.code == "ledger.fork" else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert ledger.charge(sf.Pure(1)).number == 5
assert ledger.verify(ledger.head).ok
"""


def test_both_sides_of_a_fork_may_charge(server: PostgresServer) -> None:
    """In a small process: a fork needs as much memory as the process that forks."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS, server.new()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


WRONG = [
    f"postgresql://anna:{PASSWORD}@127.0.0.1:1/visits?connect_timeout=2",
    f"postgresql://anna:{PASSWORD}@127.0.0.1:{PASSWORD}/visits",
    f"postgresql://anna:{PASSWORD}%zz@127.0.0.1/visits",
    f"postgresql://anna:{PASSWORD}@127.0.0.1/visits?{PASSWORD}=1",
    f"postgres://anna:{PASSWORD}@/nobody?host=/{PASSWORD}",
    f"postgresl://anna:{PASSWORD}@127.0.0.1/visits",
    f"mysql://anna:{PASSWORD}@127.0.0.1/visits",
    f"postgresql:/anna:{PASSWORD}@127.0.0.1/visits",
]


@pytest.mark.parametrize(
    "url",
    WRONG,
    ids=["refused", "port", "percent", "option", "folder", "misspelt", "mysql", "one slash"],
)
def test_the_url_is_shown_to_nobody(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for ask in (
        lambda: open_book(url),
        lambda: sf.Ledger.open(url),
        lambda: open_book(Path(url)),
        lambda: reading(url).__enter__(),
    ):
        with pytest.raises(sf.Refused) as caught:
            ask()
        assert caught.value.code in ("ledger.server", "ledger.path")
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        for word in (PASSWORD, "anna:", "127.0.0.1"):
            assert word not in shown.replace(f'"{url}"', "")
    assert PASSWORD not in caplog.text


def test_an_open_book_does_not_show_its_url(
    server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = server.new().replace("postgres@", f"postgres:{PASSWORD}@")
    ledger = open_book(url)
    receipt = ledger.charge(sf.Pure(1), "a memo")
    ledger.remember(receipt, "question", b"answer")
    with pytest.raises(TypeError, match="not written down"):
        __import__("pickle").dumps(ledger._store._url)
    objects = (ledger, ledger._store, vars(ledger), vars(ledger._store), receipt)
    texts = [*map(repr, objects), ledger.to_json(), ledger.to_csv(), str(ledger.head)]
    rows = server.sql(url, "SELECT body FROM sfumato.entry")
    assert PASSWORD not in "".join([*texts, repr(rows), caplog.text])
    with reading(url) as book:
        assert PASSWORD not in repr(vars(book["visits"]._store))


def test_without_psycopg_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sfumato.ledger.storage.postgres_book")
    monkeypatch.delitem(sys.modules, "sfumato.storage.postgres_store")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for ask in (
        lambda: open_book("postgresql:///books"),
        lambda: reading("postgresql:///books").__enter__(),
    ):
        with refusing("ledger.missing") as caught:
            ask()
        assert "'sfumato[postgres]'" in str(caught.value)


@pytest.fixture
def roles(server: PostgresServer) -> Iterator[tuple[str, str, str]]:
    """A book with budget 10, and the roles with exactly the rights that the page on the ledger
    gives them: the URLs of the owner, `charging` and `looking`.
    """
    url = server.new()
    open_book(url, 10).close()
    page = (HERE.parents[1] / "docs" / "guides" / "budgets" / "ledger.md").read_text(
        encoding="utf-8"
    )
    (grants,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    server.sql(url, grants)
    yield url, *(url.replace("postgres@", f"{role}@") for role in ("charging", "looking"))
    server.sql(url, "DROP OWNED BY charging, looking; DROP ROLE charging, looking")


def test_roles(server: PostgresServer, roles: tuple[str, str, str]) -> None:
    """One that may charge, and change nothing that was written; one that may look; a stranger."""
    url, charging, looking = roles
    ledger = sf.Ledger.open(charging)
    ledger.allow("alice", sf.Pure(5))
    ledger.allow("bob", sf.Pure(5))
    paid = ledger.charge(sf.Pure(1), "Anna", key="k", share="alice")
    assert ledger.charge(sf.Pure(1), "Anna", key="k", share="alice").repeated
    ledger.remember(paid, "how many?", b"about 12")
    assert ledger.recall("how many?", share="bob") is not None
    ledger.use(ledger.reserve(sf.Pure(1)))
    ledger.release(ledger.reserve(sf.Pure(1), share="bob"))
    ledger.charge(sf.Pure(1), "a NUL: \0")
    bills = open_book(charging, 3, dataset="bills")
    bills.charge(sf.Pure(1))
    ledger.charge(sf.Pure("1/3"))
    assert ledger.spent == sf.Pure("10/3", relation="add-remove", unit="patient")
    head = str(ledger.head)
    assert ledger.verify(head).ok
    ledger.close()
    bills.close()
    with pytest.raises(sf.Refused) as caught:
        sf.Ledger.open(looking)
    check(caught.value, "ledger.read-only")
    with reading(looking) as book:
        assert book.verify(head).ok
        with refusing("ledger.read-only"):
            book["visits"].charge(sf.Pure(1))
    server.sql(url, "CREATE ROLE stranger LOGIN")
    with pytest.raises(sf.Refused) as caught:
        open_book(url.replace("postgres@", "stranger@"))
    check(caught.value, "ledger.read-only")
    server.sql(url, "DROP ROLE stranger")


PAST_THE_BOOK = (
    "UPDATE sfumato.balance SET spent = '[\"0\"]', parts = 0",
    "UPDATE sfumato.balance SET budget = replace(budget, '10', '1000')",
    "INSERT INTO sfumato.balance VALUES ('visits', 'mine', '{}', '[\"0\"]', 0)",
    "DELETE FROM sfumato.balance",
    "UPDATE sfumato.entry SET spent = '[\"0\"]'",
    "DELETE FROM sfumato.entry",
    "TRUNCATE sfumato.entry",
    (
        "INSERT INTO sfumato.entry SELECT 99, dataset, share, kind, NULL, body, digest, "
        "'[\"0\"]', 0, state FROM sfumato.entry WHERE number = 2"
    ),
    "UPDATE sfumato.reservation SET state = 'open'",
    "UPDATE sfumato.answer SET answer = ''",
    "DELETE FROM sfumato.shown",
    "UPDATE sfumato.book SET id = ''",
    "UPDATE sfumato.format SET version = 2",
    "ALTER TABLE sfumato.entry DISABLE TRIGGER ALL",
    (
        "CREATE OR REPLACE FUNCTION sfumato.reaches(after TEXT, before TEXT, cost TEXT, sign "
        "INTEGER) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    ),
    "CREATE TABLE sfumato.mine (a INTEGER)",
)


def test_the_role_that_charges_cannot_write_to_any_table(
    server: PostgresServer, roles: tuple[str, str, str]
) -> None:
    _, charging, _ = roles
    ledger = sf.Ledger.open(charging)
    ledger.use(ledger.reserve(sf.Pure(2)))
    ledger.remember(ledger.charge(sf.Pure(1)), "q", b"1")
    for statement in PAST_THE_BOOK:
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)
        ):
            server.sql(charging, statement)
    assert ledger.spent == sf.Pure(3, relation="add-remove", unit="patient")
    assert ledger.verify(ledger.head).ok
    ledger.close()


def _lies() -> dict[str, Callable[[book_queries.EntryWrite], book_queries.EntryWrite]]:
    """Ways to call the function that writes, other than the book does. Digests and states are
    computed anew where a lie changes them.
    """

    def spending(text: str) -> Callable[[book_queries.EntryWrite], book_queries.EntryWrite]:
        return lambda written: written._replace(spent=text)

    def saying(
        before: str, after: str
    ) -> Callable[[book_queries.EntryWrite], book_queries.EntryWrite]:
        return lambda written: written._replace(body=written.body.replace(before, after))

    def owing(row: AccountRow) -> Callable[[book_queries.EntryWrite], book_queries.EntryWrite]:
        return lambda written: written._replace(rows=[*written.rows, row])

    zero = AccountRow("visits", "", "{}", '["0"]', 0)
    return {
        "a total that falls": spending('["0"]'),
        "a total that stays": spending('["3"]'),
        "no number": spending('["x"]'),
        "a negative denominator": spending('["-9/-1"]'),
        "a denominator of zero": spending('["4/0"]'),
        "too few numbers": spending("[]"),
        "too many numbers": spending('["4", "4"]'),
        "a negative cost": lambda written: written._replace(
            body=written.body.replace('"cost":["1"]', '"cost":["-3"]'), spent='["0"]'
        ),
        "a cost of less than nothing over nothing": lambda written: written._replace(
            body=written.body.replace('"cost":["1"]', '"cost":["1/0"]')
        ),
        "another dataset": saying('"dataset":"visits"', '"dataset":"bills"'),
        "another kind": saying('"kind":"charge"', '"kind":"answer"'),
        "a kind that nobody knows": lambda written: written._replace(
            kind="refund", body=written.body.replace('"charge"', '"refund"'), spent='["0"]'
        ),
        "an amended budget": lambda written: written._replace(
            kind="amend", body=written.body.replace('"charge"', '"amend"'), spent='["3"]'
        ),
        "a lower price": lambda written: written._replace(
            kind="reprice", body=written.body.replace('"charge"', '"reprice"'), spent='["0"]'
        ),
        "an account set to zero beside it": owing(zero),
        "a share that was never made": owing(zero._replace(share="mine")),
        "a number that is taken": lambda written: written._replace(number=written.number - 1),
        "a number that is not next": lambda written: written._replace(number=written.number + 5),
    }


def test_the_role_that_charges_cannot_lower_a_total_by_the_function_that_writes(
    roles: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a chain that goes on and a state that is right: what is refused is the lie itself. The
    twin is the truth, called in the same way.
    """
    _, charging, _ = roles
    ledger = sf.Ledger.open(charging)
    ledger.charge(sf.Pure(3))
    true, lie = postgres_book.PostgresBookTransaction.put, [""]

    def put(tx: postgres_book.PostgresBookTransaction, written: book_queries.EntryWrite) -> None:
        forged = _lies().get(lie[0], lambda same: same)(written)
        ((last,),) = tx.execute("SELECT digest FROM entry ORDER BY number DESC LIMIT 1").fetchall()
        standing = Standing(
            AccountRow(*row) for row in tx.execute("SELECT * FROM balance").fetchall()
        )
        for row in forged.rows:
            standing.put(row)
        true(
            tx,
            forged._replace(
                state=standing.state,
                digest=seal_entry(last, forged.body, forged.dataset, forged.spent, standing.state),
            ),
        )

    monkeypatch.setattr(postgres_book.PostgresBookTransaction, "put", put)
    for lie[0] in _lies():
        with pytest.raises(sf.Refused):
            ledger.charge(sf.Pure(1))
        assert ledger.spent == sf.Pure(3, relation="add-remove", unit="patient"), lie[0]
    lie[0] = ""
    assert ledger.charge(sf.Pure(1)).number == 3
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_what_changes_budgets_and_prices_is_for_the_owner(roles: tuple[str, str, str]) -> None:
    url, charging, _ = roles
    ledger = sf.Ledger.open(charging)
    ledger.charge(sf.Pure(1))
    held = ledger.reserve(sf.Pure(1))
    ledger.release(held)
    with pytest.raises(sf.Refused) as caught:
        ledger.amend(sf.Pure(1000), "more")
    check(caught.value, "ledger.read-only")
    with pytest.raises(sf.Refused) as caught:
        ledger.release(held)
    assert caught.value.code == "ledger.reservation"
    with ledger._store.reading() as tx:
        ((body,),) = tx.execute("SELECT body FROM entry WHERE kind = 'release'").fetchall()

    def release_again() -> None:  # past the book's own look
        with ledger._store.writing() as tx:
            account = book_queries.load_standing(tx).account("visits", "")
            assert account is not None
            book_queries._write(
                tx,
                ("visits", None, "release", None),
                body,
                account._replace(spent='["0"]', parts=0),
                [],
                reserved=(held.number, "release"),
            )

    with pytest.raises(sf.Refused):
        release_again()
    assert ledger.spent == sf.Pure(1, relation="add-remove", unit="patient")
    ledger.close()
    owner = sf.Ledger.open(url)
    owner.amend(sf.Pure(20), "a new year")
    owner.reprice("a better theorem")
    assert owner.verify(owner.head).ok
    owner.close()


def test_rights_to_write_are_a_problem_that_verify_names(
    server: PostgresServer, roles: tuple[str, str, str]
) -> None:
    url, charging, _ = roles
    ledger = sf.Ledger.open(charging)
    assert ledger.verify(ledger.head).ok
    server.sql(url, "GRANT UPDATE ON sfumato.balance TO charging")
    assert not ledger.verify(ledger.head).ok
    server.sql(
        url,
        (
            "REVOKE UPDATE ON sfumato.balance FROM charging; GRANT UPDATE (spent) ON "
            "sfumato.balance TO charging"
        ),
    )
    assert not ledger.verify(ledger.head).ok
    ledger.close()


def test_a_server_that_only_reads(server: PostgresServer) -> None:
    """As one does that was told to, or that stands by for another; reading is all that needs."""
    url = server.new()
    ledger = open_book(url, 10)
    ledger.close()
    server.sql(
        url,
        f"ALTER DATABASE {url.split('/')[3].split('?')[0]} SET default_transaction_read_only TO on",
    )
    for ask in (lambda: ledger.charge(sf.Pure(1)), lambda: open_book(url, dataset="bills")):
        with pytest.raises(sf.Refused) as caught:
            ask()
        check(caught.value, "ledger.read-only")
    with reading(url) as book:
        assert list(book) == ["visits"]
        assert book["visits"].remaining == sf.Pure(10, relation="add-remove", unit="patient")
        assert len(book["visits"].history()) == 1


def passed_on(primary: PostgresServer, standby: PostgresServer) -> None:
    """Wait until the standby has everything."""
    ((end,),) = primary.sql(primary.url(), "SELECT pg_current_wal_lsn()::text")
    while not standby.sql(standby.url(), "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (end,))[
        0
    ][0]:
        time.sleep(0.02)


@pytest.mark.parametrize("synchronous", [False, True], ids=["asynchronous", "synchronous"])
def test_a_standby_takes_over(synchronous: bool) -> None:
    """It is read from, and not written. What was acknowledged is on a synchronous one; on another
    it may be missing, which a process that runs on sees.
    """
    with running() as primary, running(primary=primary) as standby:
        url = primary.new()
        ledger = open_book(url, 10)
        ledger.charge(sf.Pure(1))
        passed_on(primary, standby)
        there = url.replace(str(primary.folder), str(standby.folder))
        with reading(there) as book:
            assert book.verify(ledger.head).ok
        with pytest.raises(sf.Refused) as caught:
            sf.Ledger.open(there)
        check(caught.value, "ledger.read-only")
        if synchronous:
            primary.sql(url, "ALTER SYSTEM SET synchronous_standby_names TO '*'")
            primary.sql(url, "SELECT pg_reload_conf()")
            time.sleep(0.2)
        else:
            standby.stop()  # it does not hear of what comes now
        for _ in range(3):
            ledger.charge(sf.Pure(1))
        primary.stop()
        if not synchronous:
            standby.start()
        standby.promote()
        standby.sql(there, "ALTER SYSTEM RESET synchronous_standby_names")
        # as if the name pointed to another host now
        ledger._store._url = Url(there)  # type: ignore[attr-defined]  # a store on PostgreSQL
        if synchronous:
            assert ledger.charge(sf.Pure(1)).number == 6
        else:
            with refusing("ledger.head"):
                ledger.charge(sf.Pure(1))
        ledger.close()


def test_a_restored_older_copy_is_seen_by_a_running_process(server: PostgresServer) -> None:
    """Attack F4: the database is replaced by yesterday's; the process knows the head that it saw
    last.
    """
    url = server.new()
    name = url.split("/")[3].split("?")[0]
    ledger = open_book(url, 10)
    ledger.charge(sf.Pure(1))
    ledger.close()
    server.sql(server.url(), f"CREATE DATABASE {name}_old TEMPLATE {name}")
    ledger.charge(sf.Pure(5))
    head = str(ledger.head)
    ledger.close()
    server.sql(server.url(), f"DROP DATABASE {name}")
    server.sql(server.url(), f"ALTER DATABASE {name}_old RENAME TO {name}")
    with refusing("ledger.head"):
        ledger.charge(sf.Pure(5))
    with refusing("ledger.head"):
        sf.Ledger.open(url, head=head)
    old = sf.Ledger.open(url)
    assert old.verify().ok
    assert not old.verify(head).ok


def test_long_books_come_in_portions(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "PORTION", 100)
    ledger = open_book(server.new(), 10_000)
    fill(ledger, 1_234, sf.Pure(1))
    assert ledger.verify(ledger.head).ok
    assert len(ledger.history()) == 1_235
    ledger.charge(sf.Pure(1), "a\0b")
    assert "a␀b" in {use.memo for use in sf.ledger.statement(ledger).uses}
    assert ledger.history()[-1].memo == "a\0b"


def test_a_table_keeps_its_budget_on_a_server(server: PostgresServer) -> None:
    url = server.new()
    rows = {"patient": [1, 2, 3], "age": [30, 40, 50]}
    for spent in ("1/10", "2/10"):
        with sf.protect(
            __import__("pandas").DataFrame(rows),
            budget=1,
            name="visits",
            unit="patient",
            max_rows=1,
            ledger=url,
        ) as table:
            answer: Any = table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.1, fresh=True)
            assert str(server.folder) not in repr(answer) + repr(table)
            assert table.spent.parameters["epsilon"] == __import__("fractions").Fraction(spent)


def shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["sfumato", *arguments])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_the_command_line(
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = server.new().replace("postgres@", f"postgres:{PASSWORD}@")
    (tmp_path / "visits.csv").write_text("patient,age\n1,30\n2,40\n")
    query = (
        "query",
        str(tmp_path / "visits.csv"),
        "SELECT COUNT(*) AS n FROM visits",
        "--unit",
        "patient",
        "--max-rows",
        "1",
        "--epsilon",
        "0.25",
    )
    code, output = shell(monkeypatch, capsys, *query, "--budget", "1", "--ledger", url)
    assert code == 0, output
    code, again = shell(monkeypatch, capsys, *query, "--ledger", url)  # the budget is the book's
    assert code == 0, again
    code, shown = shell(monkeypatch, capsys, "budget", url, "--verify")
    assert code == 0, shown
    assert "visits" in shown
    server.sql(
        url, "SET session_replication_role TO replica; DELETE FROM sfumato.entry WHERE number = 2"
    )
    code, altered = shell(monkeypatch, capsys, "budget", url, "--verify")
    assert (code, "ledger.altered" in altered) == (1, True)
    code, gone = shell(
        monkeypatch, capsys, "budget", f"postgresql://anna:{PASSWORD}@127.0.0.1:1/books"
    )
    assert (code, "ledger.server" in gone) == (1, True)
    assert PASSWORD not in output + again + shown + altered + gone


@pytest.mark.parametrize("again", [False, True], ids=["open", "opened again"])
def test_a_long_read_ends_when_it_is_told_to_and_after_its_time(
    again: bool, server: PostgresServer
) -> None:
    ledger = open_book(server.new())
    store = ledger._store
    calls: list[None] = []

    def ended() -> bool:
        """True from the third look on: the read has begun by then."""
        calls.append(None)
        return len(calls) > 3

    for is_over, seconds in ((ended, 600.0), (lambda: False, 0.3)):
        store.limit(lambda: False, 600.0)
        if again:
            store.close()
        with refusing("ledger.server"), store.reading() as tx:
            store.limit(is_over, seconds)
            store._until = time.monotonic() + seconds
            start = time.monotonic()
            tx.execute("SELECT pg_sleep(30)").fetchall()
        assert time.monotonic() - start < 10
    store.limit(lambda: False, 600.0)
    assert ledger.charge(sf.Pure(1)).number == 2
    ledger.close()


def test_a_read_that_is_over_asks_the_server_nothing(server: PostgresServer) -> None:
    ledger = open_book(server.new())
    store = ledger._store
    store.limit(lambda: True, 600.0)
    with refusing("ledger.server"):
        assert ledger.spent
    store.limit(lambda: False, 600.0)
    assert ledger.charge(sf.Pure(1)).number == 2
    ledger.close()


def test_a_connection_that_breaks_inside_a_transaction_is_replaced(server: PostgresServer) -> None:
    """What was raised inside is raised, and not that the connection can no longer roll back."""
    url = server.new()
    ledger = open_book(url)

    def broken() -> None:
        with ledger._store.writing() as tx:
            server.sql(url, f"SELECT pg_terminate_backend({tx._connection.info.backend_pid}, 5000)")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert ledger._store._connection.closed
    assert ledger.charge(sf.Pure(1)).number == 2
    assert ledger.verify(ledger.head).ok
    ledger.close()
