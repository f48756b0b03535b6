"""What the ledger says to whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from sfumato.guarantees import Pure
from sfumato.ledger import Ledger, verify
from sfumato.ledger.receipts import Head, Verification
from sfumato.server import ledger_views
from sfumato.server.datasets import Served, open_dataset
from sfumato.server.http.problems import UNKNOWN, ProblemError
from sfumato.server.ledger_views import budget, history, verify_ledger
from sfumato.server.request_store import RequestKey, RequestStore
from sfumato.server.roles import Asker
from sfumato.testing.ledger_fixtures import fill

from ..refusing import refusing
from .service import service

ADA, BOB, OLGA = (
    Asker("ada", "analyst", None, 0),
    Asker("bob", "analyst", None, 0),
    Asker("olga", "owner", None, 0),
)
SQL = "SELECT COUNT(*) AS n FROM visits WHERE age > {}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = open_dataset(
        service(tmp_path_factory.mktemp("books"), budget="8").config.datasets["visits"]
    )
    for place in range(6):
        found.table.sql(
            SQL.format(place), epsilon=0.5, share=found.share("bob" if place % 3 else "ada")
        )
    yield found
    found.close()


def test_everybody_sees_the_whole_and_the_own_share(served: Served) -> None:
    found = budget(served, ADA)
    assert (
        found["budget"]["epsilon"],
        found["spent"]["epsilon"],
        found["remaining"]["epsilon"],
    ) == ("8", "3", "5")
    assert found["share"]["spent"]["epsilon"] == "1"
    assert found["shares"] is None
    assert found["course"] is None


def test_the_owner_sees_everybody_and_the_course(served: Served) -> None:
    found = budget(served, OLGA)
    assert {one["name"]: one["spent"]["epsilon"] for one in found["shares"]} == {
        "ada": "1",
        "bob": "2",
    }
    assert [spent for _, spent, _ in found["course"]] == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert found["share"] is None


def test_the_log_by_pages(served: Served) -> None:
    whole = history(served, OLGA, 0, 200)
    assert whole["next"] is None
    pages, after = [], 0
    while after is not None:
        page = history(served, OLGA, after, 4)
        pages.append(page["entries"])
        after = page["next"]
    assert [one for page in pages for one in page] == whole["entries"]
    assert {len(page) for page in pages[:-1]} == {4}


def test_an_analyst_sees_the_own_part(served: Served) -> None:
    own, every = (history(served, who, 0, 200)["entries"] for who in (ADA, OLGA))
    assert own == [one for one in every if one["who"] == "ada" and one["kind"] != "answer"]
    assert {one["kind"] for one in own} == {"share", "charge"}  # nothing that says when work ended
    assert sum(one["kind"] == "answer" for one in every) == 6
    assert [one["cost"]["epsilon"] for one in own if one["kind"] == "charge"] == ["1/2", "1/2"]
    assert "age > 0" in next(one["memo"] for one in own if one["kind"] == "charge")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[RequestStore]:
    found = RequestStore(str(tmp_path / "tokens.db"))
    yield found
    found.close()


def test_cards_are_for_who_asked_and_who_looks(served: Served, state: RequestStore) -> None:
    card = partial(ledger_views.card, state=state, longest=0.0)
    number = next(
        one["number"] for one in history(served, BOB, 0, 200)["entries"] if one["kind"] == "charge"
    )
    assert card(served, BOB, number).to_dict() == card(served, OLGA, number).to_dict()
    for who, other in ((ADA, number), (OLGA, number + 1000), (OLGA, 1), (BOB, 0)):
        with pytest.raises(ProblemError) as caught:
            card(served, who, other)
        assert caught.value.problem is UNKNOWN


def test_a_card_is_also_for_who_was_given_the_answer(served: Served, state: RequestStore) -> None:
    card = partial(ledger_views.card, state=state, longest=0.0)
    number = next(
        one["number"] for one in history(served, ADA, 0, 200)["entries"] if one["kind"] == "charge"
    )
    with pytest.raises(ProblemError):
        card(served, BOB, number)
    served.table.sql(SQL.format(0), epsilon=0.5, share="bob")
    assert card(served, BOB, number).to_dict() == card(served, ADA, number).to_dict()


def test_a_card_is_not_shown_before_the_reply_has_left(served: Served, state: RequestStore) -> None:
    number = next(
        one["number"] for one in history(served, ADA, 0, 200)["entries"] if one["kind"] == "charge"
    )
    card, request = (
        partial(ledger_views.card, state=state, longest=3600.0),
        RequestKey("visits", "ada", "k"),
    )

    def seen(who: Asker) -> bool:
        try:
            return bool(card(served, who, number).to_dict())
        except ProblemError:
            return False

    assert (seen(ADA), seen(OLGA)) == (False, True)
    state.begin(request, "digest", time.time() + 60)
    state.store(request, {"a": b"reply"}, visible=time.time() + 0.5, entry=number)
    assert not seen(ADA)
    time.sleep(0.6)
    assert seen(ADA)


def test_the_book_holds(served: Served) -> None:
    found = verify_ledger(served, alone=False)
    assert found["holds"]
    assert found["head"] == str(served.ledger.head)


def test_a_check_goes_on_where_the_last_one_ended_and_begins_anew_after_an_hour(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks again and again: what was read and found whole within the hour is not read
    again, and the reply says so.
    """
    read: list[int] = []
    true = verify._check_entry
    monkeypatch.setattr(
        verify,
        "_check_entry",
        lambda replay, number, *more: read.append(number) or true(replay, number, *more),
    )
    served.checked = verify.Checked()
    assert verify_ledger(served, alone=True)["holds"]
    last = served.ledger.head.number
    assert read == list(range(1, last + 1))
    read.clear()
    served.table.sql(SQL.format(90), epsilon=0.01, share=served.share("ada"))
    again = verify_ledger(served, alone=True, head=served.ledger.head)
    assert again["holds"]
    assert read == [last + 1, last + 2]
    assert any(f"up to number {last}" in line for line in again["says"])
    read.clear()
    monkeypatch.setattr(ledger_views, "FULL", -1.0)
    assert verify_ledger(served, alone=True)["holds"]
    assert read == list(range(1, last + 3))


def test_a_check_against_a_head_that_the_book_does_not_contain(served: Served) -> None:
    found = verify_ledger(served, alone=True, head=Head(served.ledger.head.book, 10**6, "0" * 64))
    assert not found["holds"]


def steps(ledger: Ledger, call: Callable[[], object]) -> int:
    """Of SQLite's machine."""
    counted = [0]
    connection = ledger._store._connection
    connection.set_progress_handler(lambda: bool(counted.__setitem__(0, counted[0] + 1)), 1)
    call()
    connection.set_progress_handler(None)
    return counted[0]


def test_what_an_analyst_looks_at_does_not_grow_with_the_book(tmp_path: Path) -> None:
    """The budget summed every memo without sending it, and the log of who had no entries went
    through the whole book.
    """
    found = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    found.share("ada")
    asks = (
        lambda: budget(found, ADA),
        lambda: history(found, ADA, 0, 200),
        lambda: history(found, BOB, 0, 200),
    )
    before = [steps(found.ledger, ask) for ask in asks]
    fill(found.ledger, 5000, Pure("1e-4"))
    assert [steps(found.ledger, ask) for ask in asks] == pytest.approx(before, rel=0.2, abs=50)
    found.close()


def test_the_course_is_read_once_and_then_goes_on(tmp_path: Path) -> None:
    found = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    fill(found.ledger, 5000, Pure("1e-4"))
    course = budget(found, OLGA)["course"]
    assert 500 <= len(course) <= 1001
    assert course[-1][1] == pytest.approx(0.5)
    assert steps(found.long, lambda: budget(found, OLGA)) < 5000
    found.table.sql(SQL.format(1), epsilon=0.5, share=found.share("ada"))
    again = budget(found, OLGA)["course"]
    assert again[-1][1] == pytest.approx(1.0)
    assert [row[1] for row in again] == sorted(row[1] for row in again)
    found.close()


def test_a_long_look_ends_when_the_service_does_and_after_its_time(tmp_path: Path) -> None:
    found = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    fill(found.ledger, 30_000, Pure("1e-4"))
    ending = threading.Event()
    for seconds, event in ((60.0, ending), (0.05, threading.Event())):
        found.long._store.limit(event.is_set, seconds)
        if event is ending:
            threading.Timer(0.05, ending.set).start()
        start = time.monotonic()
        with refusing("ledger.busy"):
            verify_ledger(found, alone=True)
        assert time.monotonic() - start < 5
        assert found.checked.head is None
    found.long._store.limit(lambda: False, 600.0)
    assert verify_ledger(found, alone=True)["holds"]
    found.close()


def test_problems_may_name_other_datasets(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Verification(
        ("the table balance is not what the entries come to (clinic)",), (), Head("b", 1, "0" * 64)
    )
    monkeypatch.setattr(type(served.long), "verify", lambda *_, **__: wrong)
    assert "clinic" in str(verify_ledger(served, alone=True)["says"])
    found = verify_ledger(served, alone=False)
    assert (found["holds"], "clinic" in str(found)) == (False, False)
