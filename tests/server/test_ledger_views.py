"""What the ledger says to whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sfumato.guarantees import Pure
from sfumato.ledger import Ledger, verify
from sfumato.ledger.receipts import Head, Verification
from sfumato.server import ledger_views
from sfumato.server.datasets import Served, open_dataset
from sfumato.server.http.problems import UNKNOWN, ProblemError
from sfumato.server.http.response_models import ReplyModel
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


def as_sent(view: Callable[..., ReplyModel]) -> Callable[..., dict[str, Any]]:
    """The view with its reply as a client gets it."""
    return lambda *arguments, **named: view(*arguments, **named).model_dump()


budget, read_history, verify_ledger = map(
    as_sent, (ledger_views.budget, ledger_views.history, ledger_views.verify_ledger)
)


def history(served: Served, asker: Asker, after: int, limit: int) -> dict[str, Any]:
    """A page of the log, for a service that recorded no question."""
    return read_history(served, asker, after, limit, RequestStore(":memory:"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    dataset = open_dataset(
        service(tmp_path_factory.mktemp("books"), budget="8").config.datasets["visits"]
    )
    for place in range(6):
        dataset.table.sql(
            SQL.format(place), epsilon=0.5, share=dataset.share("bob" if place % 3 else "ada")
        )
    yield dataset
    dataset.close()


def test_everybody_sees_the_whole_and_the_own_share(served: Served) -> None:
    view = budget(served, ADA)
    assert (
        view["budget"]["epsilon"],
        view["spent"]["epsilon"],
        view["remaining"]["epsilon"],
    ) == ("8", "3", "5")
    assert view["share"]["spent"]["epsilon"] == "1"
    assert view["shares"] is None
    assert view["course"] is None


def test_the_owner_sees_everybody_and_the_course(served: Served) -> None:
    view = budget(served, OLGA)
    assert {share["name"]: share["spent"]["epsilon"] for share in view["shares"]} == {
        "ada": "1",
        "bob": "2",
    }
    assert [spent for _, spent, _ in view["course"]] == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert view["share"] is None


def test_the_log_by_pages(served: Served) -> None:
    full_page = history(served, OLGA, 0, 200)
    assert full_page["next"] is None
    pages, after = [], 0
    while after is not None:
        page = history(served, OLGA, after, 4)
        pages.append(page["entries"])
        after = page["next"]
    assert [entry for page in pages for entry in page] == full_page["entries"]
    assert {len(page) for page in pages[:-1]} == {4}


def test_an_analyst_sees_the_own_part(served: Served) -> None:
    own_entries, every = (history(served, who, 0, 200)["entries"] for who in (ADA, OLGA))
    assert own_entries == [
        entry for entry in every if entry["who"] == "ada" and entry["kind"] != "answer"
    ]
    assert {entry["kind"] for entry in own_entries} == {
        "share",
        "charge",
    }  # nothing that says when work ended
    assert sum(entry["kind"] == "answer" for entry in every) == 6
    assert [entry["cost"]["epsilon"] for entry in own_entries if entry["kind"] == "charge"] == [
        "1/2",
        "1/2",
    ]
    assert "age > 0" in next(entry["memo"] for entry in own_entries if entry["kind"] == "charge")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[RequestStore]:
    store = RequestStore(str(tmp_path / "tokens.db"))
    yield store
    store.close()


def test_the_log_shows_questions_as_they_were_typed(served: Served, state: RequestStore) -> None:
    """The owner sees them at once; an analyst sees the own ones, once the replies have left."""
    entries = history(served, OLGA, 0, 200)["entries"]
    charges = {
        name: [e["number"] for e in entries if e["who"] == name and e["kind"] == "charge"]
        for name in ("ada", "bob")
    }
    for name, visible in (("ada", 0.0), ("bob", time.time() + 60)):
        request = RequestKey("visits", name, "key")
        state.begin(request, "digest", time.time() + 60)
        state.store(
            request,
            {"a": b"reply"},
            visible=visible,
            entry=charges[name][0],
            sql=f"typed by {name}",
        )

    def typed(asker: Asker) -> dict[int, str]:
        page = read_history(served, asker, 0, 200, state)
        charged = [entry for entry in page["entries"] if entry["kind"] == "charge"]
        return {entry["number"]: entry["sql"] for entry in charged if entry["sql"]}

    assert typed(ADA) == {charges["ada"][0]: "typed by ada"}
    assert typed(BOB) == {}  # it would say when work ended
    assert typed(OLGA) == {charges[name][0]: f"typed by {name}" for name in ("ada", "bob")}


def test_cards_are_for_who_asked_and_who_looks(served: Served, state: RequestStore) -> None:
    card = partial(ledger_views.card, state=state, longest=0.0)
    number = next(
        entry["number"]
        for entry in history(served, BOB, 0, 200)["entries"]
        if entry["kind"] == "charge"
    )
    assert card(served, BOB, number).to_dict() == card(served, OLGA, number).to_dict()
    for who, hidden_number in ((ADA, number), (OLGA, number + 1000), (OLGA, 1), (BOB, 0)):
        with pytest.raises(ProblemError) as caught:
            card(served, who, hidden_number)
        assert caught.value.problem is UNKNOWN


def test_a_card_is_also_for_who_was_given_the_answer(served: Served, state: RequestStore) -> None:
    card = partial(ledger_views.card, state=state, longest=0.0)
    number = next(
        entry["number"]
        for entry in history(served, ADA, 0, 200)["entries"]
        if entry["kind"] == "charge"
    )
    with pytest.raises(ProblemError):
        card(served, BOB, number)
    served.table.sql(SQL.format(0), epsilon=0.5, share="bob")
    assert card(served, BOB, number).to_dict() == card(served, ADA, number).to_dict()


def test_a_card_is_not_shown_before_the_reply_has_left(served: Served, state: RequestStore) -> None:
    number = next(
        entry["number"]
        for entry in history(served, ADA, 0, 200)["entries"]
        if entry["kind"] == "charge"
    )
    card, request = (
        partial(ledger_views.card, state=state, longest=3600.0),
        RequestKey("visits", "ada", "k"),
    )

    def sees_card(who: Asker) -> bool:
        try:
            return bool(card(served, who, number).to_dict())
        except ProblemError:
            return False

    assert (sees_card(ADA), sees_card(OLGA)) == (False, True)
    state.begin(request, "digest", time.time() + 60)
    state.store(request, {"a": b"reply"}, visible=time.time() + 0.5, entry=number)
    assert not sees_card(ADA)
    time.sleep(0.6)
    assert sees_card(ADA)


def test_the_book_holds(served: Served) -> None:
    report = verify_ledger(served, alone=False)
    assert report["holds"]
    assert report["head"] == str(served.ledger.head)


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
    report = verify_ledger(served, alone=True, head=Head(served.ledger.head.book, 10**6, "0" * 64))
    assert not report["holds"]


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
    dataset = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    dataset.share("ada")
    asks = (
        lambda: budget(dataset, ADA),
        lambda: history(dataset, ADA, 0, 200),
        lambda: history(dataset, BOB, 0, 200),
    )
    before = [steps(dataset.ledger, ask) for ask in asks]
    fill(dataset.ledger, 5000, Pure("1e-4"))
    assert [steps(dataset.ledger, ask) for ask in asks] == pytest.approx(before, rel=0.2, abs=50)
    dataset.close()


def test_the_course_is_read_once_and_then_goes_on(tmp_path: Path) -> None:
    dataset = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    fill(dataset.ledger, 5000, Pure("1e-4"))
    course = budget(dataset, OLGA)["course"]
    assert 500 <= len(course) <= 1001
    assert course[-1][1] == pytest.approx(0.5)
    assert steps(dataset.long, lambda: budget(dataset, OLGA)) < 5000
    dataset.table.sql(SQL.format(1), epsilon=0.5, share=dataset.share("ada"))
    again = budget(dataset, OLGA)["course"]
    assert again[-1][1] == pytest.approx(1.0)
    assert [row[1] for row in again] == sorted(row[1] for row in again)
    dataset.close()


def test_a_long_look_ends_when_the_service_does_and_after_its_time(tmp_path: Path) -> None:
    dataset = open_dataset(service(tmp_path, budget="8").config.datasets["visits"])
    fill(dataset.ledger, 30_000, Pure("1e-4"))
    ending = threading.Event()
    for seconds, event in ((60.0, ending), (0.05, threading.Event())):
        dataset.long._store.limit(event.is_set, seconds)
        if event is ending:
            threading.Timer(0.05, ending.set).start()
        start = time.monotonic()
        with refusing("ledger.busy"):
            verify_ledger(dataset, alone=True)
        assert time.monotonic() - start < 5
        assert dataset.checked.head is None
    dataset.long._store.limit(lambda: False, 600.0)
    assert verify_ledger(dataset, alone=True)["holds"]
    dataset.close()


def test_problems_may_name_other_datasets(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Verification(
        ("the table balance is not what the entries come to (clinic)",), (), Head("b", 1, "0" * 64)
    )
    monkeypatch.setattr(type(served.long), "verify", lambda *_, **__: wrong)
    assert "clinic" in str(verify_ledger(served, alone=True)["says"])
    report = verify_ledger(served, alone=False)
    assert (report["holds"], "clinic" in str(report)) == (False, False)
