"""What is kept beside the ledger: in a file, shared by processes and threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.server.state import Limited, Request, State, TokenRow

from ..ledger.servers import PostgresServer, running

ONE = Request("visits", "ada", "k1")


pytestmark = pytest.mark.xdist_group("server-state")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running() as found:
        yield found


@pytest.fixture(params=["a file", "PostgreSQL"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the records are: a new file, or a new database."""
    return str(tmp_path / "tokens.db") if request.param == "a file" else str(request.getfixturevalue("server").new())


@pytest.fixture
def state(place: str) -> Iterator[State]:
    found = State(place)
    assert found.quick == place.endswith(".db")
    yield found
    found.close()


def test_a_request_is_begun_once(state: State) -> None:
    assert state.kept(ONE, "a") is None
    assert state.begin(ONE, "digest", 5.0)
    assert not state.begin(ONE, "digest", 6.0)
    assert state.kept(ONE, "a") == ("digest", "begun", 5.0, 0.0, None)


def test_a_reply_is_kept_and_stays(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    assert state.store(ONE, {"a": b"first"}, visible=4.5, entry=7) == {"a": b"first"}
    assert state.store(ONE, {"a": b"second", "b": b"other"}) == {"a": b"first", "b": b"other"}
    assert state.kept(ONE, "a") == ("digest", "done", 5.0, 4.5, b"first")
    assert state.kept(ONE, "b") == ("digest", "done", 5.0, 4.5, b"other")
    state.lose(ONE)
    state.forget(ONE)
    assert state.kept(ONE, "a") == ("digest", "done", 5.0, 4.5, b"first")  # what was replied is neither lost nor forgotten


def test_a_refused_request_is_forgotten(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    state.forget(ONE)
    assert state.begin(ONE, "other", 6.0)


def test_a_lost_request_stays_lost(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    state.lose(ONE, visible=4.5)
    assert state.kept(ONE, "a") == ("digest", "lost", 5.0, 4.5, None)
    assert state.store(ONE, {"a": b"late"}) == {}
    assert state.kept(ONE, "a") == ("digest", "lost", 5.0, 4.5, None)
    assert not state.again(ONE, 5.0, 9.0)


def test_one_of_several_takes_over_what_somebody_left(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    assert [state.again(ONE, 5.0, 9.0), state.again(ONE, 5.0, 9.0)] == [True, False]


def test_overruns_are_counted(state: State) -> None:
    for key, who in enumerate(("ada", "bob", "ada", "cleo")):
        request = Request("visits", who, str(key))
        state.begin(request, "digest", 5.0, 9)
        for _ in range(2):  # a request overruns once
            state.lose(request, overran=who != "cleo")
    assert state.overruns("visits") == {"ada": 2, "bob": 1}
    assert state.overruns("clinic") == {}


def limited(state: State, who: str, limit: int) -> str:
    """Whether one more may be begun."""
    probe = Request("visits", who, "probe")
    try:
        state.begin(probe, "digest", time.time() + 60, limit)
    except Limited as found:
        return "reached" if found.reached else "for now"
    state.forget(probe)
    return "no"


def test_what_is_under_way_counts_as_an_overrun_until_it_may_be_told(state: State) -> None:
    """What can be seen does not change with how a request ends until the moment when that may be told."""
    soon = time.time() + 1.5
    ends = {"ada": "begun", "bob": "done", "cleo": "lost"}
    for who, end in ends.items():
        request = Request("visits", who, "k")
        assert state.begin(request, "digest", soon + 60, 1)
        if end == "done":
            state.store(request, {"a": b"reply"}, visible=soon)
        elif end == "lost":
            state.lose(request, visible=soon, overran=True)
    assert {(limited(state, who, 1), limited(state, who, 2), state.told("visits", who)) for who in ends} == {("for now", "no", 0)}
    assert state.overruns("visits") == {"cleo": 1}  # the owner knows
    time.sleep(max(0.0, soon - time.time()) + 0.1)
    assert {who: (limited(state, who, 1), state.told("visits", who)) for who in ends} == {"ada": ("for now", 0), "bob": ("no", 0), "cleo": ("reached", 1)}


def test_an_answer_was_given_when_it_could_be_seen(state: State) -> None:
    state.begin(ONE, "digest", time.time() + 60)
    state.store(ONE, {"a": b"reply"}, visible=time.time() + 1, entry=7)
    assert not state.given("visits", "ada", 7)
    time.sleep(1.1)
    assert [state.given("visits", who, entry) for who, entry in (("ada", 7), ("bob", 7), ("ada", 8))] == [True, False, False]


def test_the_same_bytes_are_kept_once(state: State) -> None:
    for key in range(10):
        request = Request("visits", "ada", str(key))
        state.begin(request, "digest", 5.0)
        assert state.store(request, {"a": b"x" * 1000}) == {"a": b"x" * 1000}
    assert state._read("SELECT count(*) FROM body") in ([(1,)], [[1]])
    assert state._read("SELECT count(*) FROM reply") in ([(10,)], [[10]])


def test_tokens_end(state: State) -> None:
    row = TokenRow("abc", "hash", "ada", "analyst", "null", 1, 2, 0)
    state.add_token(row)
    assert (state.token("abc"), state.token("abd"), state.tokens()) == (row, None, [row])
    assert (state.revoke("abc"), state.revoke("abc")) == (True, False)
    found = state.token("abc")
    assert found is not None
    assert abs(found.revoked - time.time()) < 100


def test_a_request_is_begun_once_by_many(place: str) -> None:
    """Several connections, as several processes have them."""
    states = [State(place) for _ in range(4)]
    won: list[str] = []

    def race(state: State) -> None:
        won.extend(key for key in map(str, range(20)) if state.begin(Request("visits", "ada", key), "digest", 5.0))

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
    states = [State(place) for _ in range(4)]
    ours: list[bool] = []

    def race(state: State, turn: int) -> None:
        for key in range(5):
            with suppress(Limited):
                ours.append(state.begin(Request("visits", "ada", f"{turn}-{key}"), "digest", time.time() + 60, 3))

    threads = [threading.Thread(target=race, args=(state, turn)) for turn, state in enumerate(states)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ours == [True] * 3
    for state in states:
        state.close()


def test_trouble_is_a_refusal_without_words_of_the_storage(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        State(str(tmp_path / "no-folder" / "tokens.db")).tokens()
    assert caught.value.code == "server.storage"
    assert "no-folder" not in str(caught.value)
