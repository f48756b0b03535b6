"""What is kept beside the ledger: in a file, shared by processes and threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.server.request_store import (
    COUNTS,
    OLD,
    UNUSED,
    Limited,
    RequestKey,
    RequestStore,
    Run,
    TokenRow,
)
from sfumato.storage.sqlite_store import Bindings

REQUEST = RequestKey("visits", "ada", "k1")


pytestmark = pytest.mark.xdist_group("server-state")


@pytest.fixture(params=["a file", "PostgreSQL"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the records are: a new file, or a new database."""
    return (
        str(tmp_path / "tokens.db")
        if request.param == "a file"
        else str(request.getfixturevalue("server").new())
    )


@pytest.fixture
def state(place: str) -> Iterator[RequestStore]:
    store = RequestStore(place)
    assert store.is_quick == place.endswith(".db")
    yield store
    store.close()


def test_a_request_is_begun_once(state: RequestStore) -> None:
    assert state.find(REQUEST, "a") is None
    assert state.begin(REQUEST, "digest", 5.0)
    assert not state.begin(REQUEST, "digest", 6.0)
    assert state.find(REQUEST, "a") == ("digest", "begun", 5.0, 0.0, None)


def test_a_look_at_a_file_waits_for_no_writer(tmp_path: Path) -> None:
    """In this process or in another: the event loop looks at tokens."""
    place = str(tmp_path / "tokens.db")
    state, second_state = RequestStore(place), RequestStore(place)
    state.open()
    done = threading.Event()

    def look() -> None:
        assert state.token("none") is None
        done.set()

    for writer in (state, second_state):
        done.clear()
        with writer._writing() as run:
            run("DELETE FROM token")
            thread = threading.Thread(target=look)
            thread.start()
            assert done.wait(20)  # though the writer has not ended
            thread.join()
    state.close()
    second_state.close()


def test_a_reply_is_kept_and_stays(state: RequestStore) -> None:
    state.begin(REQUEST, "digest", 5.0)
    assert state.store(REQUEST, {"a": b"first"}, visible=4.5, entry=7) == {"a": b"first"}
    assert state.store(REQUEST, {"a": b"second", "b": b"other"}) == {"a": b"first", "b": b"other"}
    assert state.find(REQUEST, "a") == ("digest", "done", 5.0, 4.5, b"first")
    assert state.find(REQUEST, "b") == ("digest", "done", 5.0, 4.5, b"other")
    state.mark_lost(REQUEST)
    state.forget(REQUEST)
    assert state.find(REQUEST, "a") == (
        "digest",
        "done",
        5.0,
        4.5,
        b"first",
    )  # what was replied is neither lost nor forgotten


def test_a_question_stays_as_it_was_typed(
    state: RequestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The analyst reads it from the moment on at which the reply may be told; others never do."""
    monkeypatch.setattr(time, "time", lambda: 4.0)
    state.begin(REQUEST, "digest", 5.0)
    state.store(REQUEST, {"a": b"first"}, visible=4.5, entry=7, sql="SELECT 'as typed'")
    visits, ada = REQUEST.dataset, REQUEST.who
    assert not state.has_received(visits, ada, 7)
    assert state.questions(visits, range(7, 8), ada) == {}
    assert state.questions(visits, range(7, 8)) == {(ada, 7): "SELECT 'as typed'"}  # for the owner
    monkeypatch.setattr(time, "time", lambda: 4.5)
    assert state.has_received(visits, ada, 7)
    assert state.questions(visits, range(7, 8), ada) == {(ada, 7): "SELECT 'as typed'"}
    assert [state.questions(visits, entries, ada) for entries in (range(7), range(8, 9))] == [
        {},
        {},
    ]
    assert state.questions(visits, range(9), "somebody else") == {}
    again = REQUEST._replace(key="again")
    state.begin(again, "digest", 5.0)
    state.store(again, {"a": b"first"}, visible=4.9, entry=7, sql="select 'as typed'")
    state.drop_old(9.0, 100)  # the question stays for as long as the ledger's entry
    assert state.questions(visits, range(9), ada) == {(ada, 7): "SELECT 'as typed'"}


def test_a_refused_request_is_forgotten(state: RequestStore) -> None:
    state.begin(REQUEST, "digest", 5.0)
    state.forget(REQUEST)
    assert state.begin(REQUEST, "other", 6.0)


def test_a_lost_request_stays_lost(state: RequestStore) -> None:
    state.begin(REQUEST, "digest", 5.0)
    state.mark_lost(REQUEST, visible=4.5)
    assert state.find(REQUEST, "a") == ("digest", "lost", 5.0, 4.5, None)
    assert state.store(REQUEST, {"a": b"late"}) == {}
    assert state.find(REQUEST, "a") == ("digest", "lost", 5.0, 4.5, None)
    assert not state.take_over(REQUEST, 5.0, 9.0)


def test_one_of_several_takes_over_what_somebody_left(state: RequestStore) -> None:
    state.begin(REQUEST, "digest", 5.0)
    assert [state.take_over(REQUEST, 5.0, 9.0), state.take_over(REQUEST, 5.0, 9.0)] == [True, False]


def test_overruns_are_counted(state: RequestStore) -> None:
    for key, who in enumerate(("ada", "bob", "ada", "cleo")):
        request = RequestKey("visits", who, str(key))
        state.begin(request, "digest", 5.0, 9)
        for _ in range(2):  # a request overruns once
            state.mark_lost(request, overran=who != "cleo")
    assert state.overruns("visits") == {"ada": 2, "bob": 1}
    assert state.overruns("clinic") == {}


class Clock:
    """A clock that shows one moment, in place of the module of that name: nobody has to wait for
    it.
    """

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def time(self) -> float:
        return self.moment


def limited(state: RequestStore, who: str, limit: int) -> str:
    """Whether one more may be begun."""
    probe = RequestKey("visits", who, "probe")
    try:
        state.begin(probe, "digest", time.time() + 600, limit)
    except Limited as stopped:
        return "reached" if stopped.reached else "for now"
    state.forget(probe)
    return "no"


def test_what_is_under_way_counts_as_an_overrun_until_it_may_be_told(
    state: RequestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What can be seen does not change with how a request ends until the moment when that may be
    told.
    """
    soon = time.time() + 60
    ends = {"ada": "begun", "bob": "done", "cleo": "lost"}
    for who, end in ends.items():
        request = RequestKey("visits", who, "k")
        assert state.begin(request, "digest", soon + 60, 1)
        if end == "done":
            state.store(request, {"a": b"reply"}, visible=soon)
        elif end == "lost":
            state.mark_lost(request, visible=soon, overran=True)
    assert {
        (limited(state, who, 1), limited(state, who, 2), state.count_overruns("visits", who))
        for who in ends
    } == {("for now", "no", 0)}
    assert state.overruns("visits") == {"cleo": 1}  # the owner knows
    monkeypatch.setattr("sfumato.server.request_store.time", Clock(soon + 0.1))
    assert {who: (limited(state, who, 1), state.count_overruns("visits", who)) for who in ends} == {
        "ada": ("for now", 0),
        "bob": ("no", 0),
        "cleo": ("reached", 1),
    }


def test_an_answer_was_given_when_it_could_be_seen(
    state: RequestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = time.time() + 60
    state.begin(REQUEST, "digest", soon + 60)
    state.store(REQUEST, {"a": b"reply"}, visible=soon, entry=7)
    assert not state.has_received("visits", "ada", 7)
    monkeypatch.setattr("sfumato.server.request_store.time", Clock(soon + 0.1))
    assert [
        state.has_received("visits", who, entry)
        for who, entry in (("ada", 7), ("bob", 7), ("ada", 8))
    ] == [True, False, False]


def test_the_same_bytes_are_kept_once(state: RequestStore) -> None:
    for key in range(10):
        request = RequestKey("visits", "ada", str(key))
        state.begin(request, "digest", 5.0)
        assert state.store(request, {"a": b"x" * 1000}) == {"a": b"x" * 1000}
    assert state._read("SELECT count(*) FROM body") in ([(1,)], [[1]])
    assert state._read("SELECT count(*) FROM reply") in ([(10,)], [[10]])


def counted(state: RequestStore) -> dict[str, int]:
    return {
        table: int(state._read(f"SELECT count(*) FROM {table}")[0][0])
        for table in ("request", "reply", "body", "void")
    }


def answered(state: RequestStore, key: str, until: float, body: bytes) -> RequestKey:
    request = RequestKey("visits", "ada", key)
    state.begin(request, "digest", until)
    state.store(request, {"a": body})
    return request


def test_what_is_old_is_let_go_and_its_key_is_void(state: RequestStore) -> None:
    old, shared, young = (
        answered(state, "1", 5.0, b"one"),
        answered(state, "2", 6.0, b"two"),
        answered(state, "3", 50.0, b"two"),
    )
    lost, begun = RequestKey("visits", "ada", "4"), RequestKey("visits", "ada", "5")
    for request in (lost, begun):
        state.begin(request, "digest", 7.0)
    state.mark_lost(lost, overran=True)
    assert [state.drop_old(20.0, 3), state.drop_old(20.0, 3), state.drop_old(20.0, 3)] == [3, 1, 0]
    assert counted(state) == {"request": 1, "reply": 1, "body": 1, "void": 4}
    record = state.find(young, "a")
    assert record is not None
    assert record.reply == b"two"  # somebody else still has these bytes
    for request in (old, shared, lost, begun):
        for use in (
            lambda key=request: state.find(key, "a"),
            lambda key=request: state.begin(key, "digest", 99.0, 9),
        ):
            with pytest.raises(Refused) as caught:
                use()
            assert caught.value.code == "server.void"
    assert state.store(begun, {"a": b"late"}) == {}
    assert not state.take_over(begun, 7.0, 99.0)
    assert counted(state) == {"request": 1, "reply": 1, "body": 1, "void": 4}
    assert state.begin(RequestKey("visits", "bob", "1"), "digest", 5.0)  # a key is its asker's own
    assert state.begin(RequestKey("clinic", "ada", "1"), "digest", 5.0)


def test_overruns_stay_counted_when_their_requests_are_let_go(state: RequestStore) -> None:
    for key in range(3):
        request = RequestKey("visits", "ada", str(key))
        state.begin(request, "digest", 5.0, 9)
        state.mark_lost(request, visible=4.0, overran=True)
    before = (
        state.overruns("visits"),
        state.count_overruns("visits", "ada"),
        limited(state, "ada", 3),
        limited(state, "ada", 4),
    )
    assert before == ({"ada": 3}, 3, "reached", "no")
    assert state.drop_old(20.0, 100) == 3
    assert (
        state.overruns("visits"),
        state.count_overruns("visits", "ada"),
        limited(state, "ada", 3),
        limited(state, "ada", 4),
    ) == before


def test_nothing_is_found_by_looking_at_everything(tmp_path: Path) -> None:
    """However many keys there are: a look at one request, at somebody's counts, and at what is old
    goes by an index.
    """
    state = RequestStore(str(tmp_path / "tokens.db"))
    bindings = {COUNTS: 7, OLD: 3, UNUSED: 1}
    plans = {
        statement: [
            str(row[3]) for row in state._read(f"EXPLAIN QUERY PLAN {statement}", (0,) * count)
        ]
        for statement, count in bindings.items()
    }
    state.close()
    assert not [line for plan in plans.values() for line in plan if line.startswith("SCAN")]
    assert any("request_until (dataset=? AND who=? AND until>?)" in line for line in plans[COUNTS])
    assert any("request_old (until<?)" in line for line in plans[OLD])


def test_what_is_taken_up_again_is_not_let_go(state: RequestStore) -> None:
    state.begin(REQUEST, "digest", 5.0)
    state.take_over(REQUEST, 5.0, 50.0)
    assert state.drop_old(20.0, 100) == 0
    assert state.find(REQUEST, "a") == ("digest", "begun", 50.0, 0.0, None)


def interrupt(
    store: RequestStore, start: str, thread: threading.Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a thread run for a while after the statement of a transaction that begins so."""
    usual = store._writing

    @contextmanager
    def writing() -> Iterator[Run]:
        with usual() as run:

            def interrupted(statement: str, bindings: Bindings = (), /) -> list[Any]:
                rows = run(statement, bindings)
                if statement.startswith(start):
                    thread.start()
                    thread.join(0.3)
                return rows

            yield interrupted

    monkeypatch.setattr(store, "_writing", writing)


def test_bytes_that_somebody_is_about_to_use_are_not_let_go(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody finds the bytes of a reply there, and is interrupted; meanwhile the one key that had
    them is let go.
    """
    storing, pruning = RequestStore(place), RequestStore(place)
    old, young = answered(storing, "old", 5.0, b"the same"), RequestKey("visits", "ada", "young")
    storing.begin(young, "digest", 50.0)
    pruning.open()
    thread = threading.Thread(target=pruning.drop_old, args=(20.0, 100))

    interrupt(storing, "INSERT INTO body", thread, monkeypatch)
    assert storing.store(young, {"a": b"the same"}) == {"a": b"the same"}
    thread.join()
    record = storing.find(young, "a")
    assert record is not None
    assert record.reply == b"the same"
    with pytest.raises(Refused, match=r"server\.void"):
        storing.find(old, "a")
    assert counted(storing) == {"request": 1, "reply": 1, "body": 1, "void": 1}
    storing.close()
    pruning.close()


def test_a_reply_in_another_form_comes_before_or_after_its_request_is_let_go(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored for a request that is gone."""
    storing, pruning = RequestStore(place), RequestStore(place)
    old = answered(storing, "old", 5.0, b"one form")
    pruning.open()
    thread = threading.Thread(target=pruning.drop_old, args=(20.0, 100))

    interrupt(storing, "SELECT 1 FROM request", thread, monkeypatch)
    assert storing.store(old, {"b": b"another"}) == {"a": b"one form", "b": b"another"}
    thread.join()
    assert counted(storing) == {"request": 0, "reply": 0, "body": 0, "void": 1}
    storing.close()
    pruning.close()


def test_tokens_end(state: RequestStore) -> None:
    row = TokenRow("abc", "hash", "ada", "analyst", "null", 1, 2, 0)
    state.add_token(row, "verifier")
    assert (state.token("abc"), state.token("abd"), state.tokens()) == (row, None, [row])
    assert state.verifiers("ada", 1) == [(row, "verifier")]
    assert state.verifiers("ada", 2) == state.verifiers("bob", 1) == []
    assert (state.revoke("abc"), state.revoke("abc")) == (True, False)
    assert state.verifiers("ada", 1) == []
    revoked_row = state.token("abc")
    assert revoked_row is not None
    assert abs(revoked_row.revoked - time.time()) < 100


def test_a_request_is_begun_once_by_many(place: str) -> None:
    """Several connections, as several processes have them."""
    states = [RequestStore(place) for _ in range(4)]
    won: list[str] = []

    def race(state: RequestStore) -> None:
        won.extend(
            key
            for key in map(str, range(20))
            if state.begin(RequestKey("visits", "ada", key), "digest", 5.0)
        )

    threads = [threading.Thread(target=race, args=(state,)) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won, key=int) == [str(i) for i in range(20)]
    for state in states:
        state.close()


def test_a_limit_holds_among_many(place: str) -> None:
    """Twenty at once, through several connections, with room for three."""
    states = [RequestStore(place) for _ in range(4)]
    ours: list[bool] = []

    def race(state: RequestStore, turn: int) -> None:
        for key in range(5):
            with suppress(Limited):
                ours.append(
                    state.begin(
                        RequestKey("visits", "ada", f"{turn}-{key}"), "digest", time.time() + 60, 3
                    )
                )

    threads = [
        threading.Thread(target=race, args=(state, turn)) for turn, state in enumerate(states)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ours == [True] * 3
    for state in states:
        state.close()


def test_trouble_is_a_refusal_without_words_of_the_storage(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        RequestStore(str(tmp_path / "no-folder" / "tokens.db")).tokens()
    assert caught.value.code == "server.storage"
    assert "no-folder" not in str(caught.value)


def test_a_file_with_two_names_is_refused_with_the_reason(tmp_path: Path) -> None:
    RequestStore(str(tmp_path / "tokens.db")).head("visits")
    (tmp_path / "second.db").hardlink_to(tmp_path / "tokens.db")
    with pytest.raises(Refused) as caught:
        RequestStore(str(tmp_path / "tokens.db")).head("visits")
    assert caught.value.code == "server.storage"
    assert "second name" in caught.value.reason
    assert "hard link" in caught.value.rewrite
