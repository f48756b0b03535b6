"""What is kept beside the ledger: in a file, shared by processes and threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.server.state import Request, State, TokenRow

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
    assert state.kept(ONE, "a") == ("digest", "begun", 5.0, None)


def test_a_reply_is_kept_and_stays(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    state.store(ONE, {"a": b"first", "b": b"other"})
    state.store(ONE, {"a": b"second"})
    assert state.kept(ONE, "a") == ("digest", "done", 5.0, b"first")
    assert state.kept(ONE, "b") == ("digest", "done", 5.0, b"other")
    state.lose(ONE)
    state.forget(ONE)
    assert state.kept(ONE, "a") == ("digest", "done", 5.0, b"first")  # what was replied is neither lost nor forgotten


def test_a_refused_request_is_forgotten(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    state.forget(ONE)
    assert state.begin(ONE, "other", 6.0)


def test_a_lost_request_stays_lost(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    state.lose(ONE)
    assert state.kept(ONE, "a") == ("digest", "lost", 5.0, None)
    assert not state.again(ONE, 5.0, 9.0)


def test_one_of_several_takes_over_what_somebody_left(state: State) -> None:
    state.begin(ONE, "digest", 5.0)
    assert [state.again(ONE, 5.0, 9.0), state.again(ONE, 5.0, 9.0)] == [True, False]


def test_overruns_are_counted(state: State) -> None:
    for who in ("ada", "bob", "ada"):
        state.overran("visits", who)
    assert state.overruns("visits") == {"ada": 2, "bob": 1}
    assert state.overruns("clinic") == {}


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


def test_trouble_is_a_refusal_without_words_of_the_storage(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        State(str(tmp_path / "no-folder" / "tokens.db")).tokens()
    assert caught.value.code == "server.storage"
    assert "no-folder" not in str(caught.value)
