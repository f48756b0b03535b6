"""The book, as it is read from outside."""

from __future__ import annotations

import httpx
import pytest

import sfumato as sf
from sfumato.errors import Refused

from .behind import Paper, behind

SQL = "SELECT COUNT(*) AS n FROM visits"


def test_balances() -> None:
    with behind() as (there, paper):
        visits = there["visits"]
        visits.sql(SQL, epsilon=2)
        ledger = paper.table.ledger
        assert (visits.budget, visits.spent, visits.remaining) == (
            ledger.budget,
            ledger.spent,
            ledger.remaining,
        )
        assert visits.ledger.share is not None
        assert visits.ledger.share.spent == ledger.spent


def test_history_comes_in_pages() -> None:
    with behind() as (there, paper):
        visits = there["visits"]
        for epsilon in (1, 2, 3):
            visits.sql(SQL, epsilon=epsilon)
        mine, local_entries = visits.ledger.history(), paper.table.ledger.history()
        assert [
            (
                entry.number,
                entry.when,
                entry.kind,
                entry.memo,
                entry.cost,
                entry.digest,
                entry.dataset,
            )
            for entry in mine
        ] == [
            (
                entry.number,
                entry.when,
                entry.kind,
                entry.memo,
                entry.cost,
                entry.digest,
                entry.dataset,
            )
            for entry in local_entries
        ]
        assert len([path for _, path, _, _ in paper.log if path.endswith("history")]) > 2


def test_verification() -> None:
    with behind() as (there, paper):
        remote, local = there["visits"].ledger.verify(), paper.table.ledger.verify()
        assert remote == local
        assert str(remote) == str(local)


def test_a_book_that_does_not_hold() -> None:
    def broken(paper: Paper, request: httpx.Request) -> httpx.Response | None:
        if not request.url.path.endswith("verify"):
            return None
        head = str(paper.table.ledger.head)
        return httpx.Response(
            200,
            json={
                "holds": False,
                "head": head,
                "says": ["problem: entry 3", "cannot see: an old copy"],
            },
        )

    with behind(broken) as (there, _):
        verification = there["visits"].ledger.verify()
        assert not verification.ok
        assert (verification.problems, verification.blind) == (("entry 3",), ("an old copy",))


def test_shares_of_others_are_for_owners() -> None:
    with behind() as (there, _):
        with pytest.raises(Refused) as caught:
            _ = there["visits"].ledger.shares
        assert caught.value.code == "client.role"
    with behind(role="owner") as (there, _):
        assert there["visits"].ledger.shares["ada"].budget == sf.Approx(
            1000, "1e-3", relation="add-remove", unit="user_id"
        )
        assert repr(there["visits"].ledger) == "<sfumato ledger of visits, at http://127.0.0.1:9>"
