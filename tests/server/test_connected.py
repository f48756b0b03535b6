"""The client and the service, over a socket: the same notebook, the same answers on a retry, the
same refusals.
"""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.answers.answer import Answer
from sfumato.errors import Refused

from .service import SQL, Running

pytestmark = pytest.mark.xdist_group("server")


def connected(service: Running, who: str) -> Any:
    return sf.connect(service.url, service.deployment.tokens[who])


def test_a_notebook(service: Running) -> None:
    with connected(service, "bob") as connection:
        visits = connection["visits"]
        plan = visits.plan(SQL, epsilon=2)
        assert plan.affordable
        assert plan.groups == 3
        query = (
            visits.where(visits["age"] >= 30)
            .group_by("city")
            .aggregate(n=sf.count(), people=sf.count_units(), p=sf.quantiles("age", [0.25, 0.5]))
        )
        before = visits.spent
        answer = query.release(promise=sf.Pure("1/3"))
        assert isinstance(answer, Answer)
        assert answer.keys == ("city",)
        assert answer.names == ("n", "people", "p_25", "p_50")
        assert answer.cost == sf.Approx("1/3", 0, relation="add-remove", unit="user_id")
        assert visits.spent == before + answer.cost
        assert answer.receipt is not None
        entry = next(
            entry for entry in visits.ledger.history() if entry.number == answer.receipt.number
        )
        assert (entry.kind, entry.share, entry.digest, entry.cost) == (
            "charge",
            "bob",
            answer.receipt.digest,
            answer.cost,
        )
        assert visits.card(answer.receipt.number)["sfumato"] == "card"
        again = [visits.sql(SQL, epsilon="0.01", key="again-1") for _ in range(2)]
        assert again[0].to_json() == again[1].to_json()
        assert visits.plan("SELECT COUNT(*) AS n FROM visits", within=25).error(0.99)["n"] > 25


def test_every_aggregate_is_understood(service: Running) -> None:
    with connected(service, "bob") as connection:
        visits = connection["visits"]
        months = visits.where("note IS NOT NULL").group_by(
            month=sf.calendar("day", "month", "2026-01-01", "2026-04-30")
        )
        plan = months.aggregate(
            n=sf.count(),
            s=sf.sum("spend", low=0, high=10),
            v=sf.var("age"),
            r=sf.ratio("spend", "age"),
            h=sf.histogram("age", edges=[0, 40, 120]),
        )
        planned = plan.plan(epsilon=1)
        assert planned.groups == 4
        assert planned.kinds == {
            "n": "count",
            "s": "sum",
            "v": "variance",
            "r": "ratio",
            "h": "histogram",
        }


@pytest.mark.parametrize(
    ("who", "ask", "code"),
    [
        ("bob", lambda c: c["visits"].sql("SELECT note FROM visits", epsilon=1), "sql.raw-rows"),
        ("ada", lambda c: c["visits"].sql(SQL, epsilon=1000), "budget.exceeded"),
        ("bob", lambda c: c["clinic"], "client.dataset"),
        ("bob", lambda c: c["visits"].ledger.verify(), "server.role"),
        ("bob", lambda c: c["visits"].card(10**9), "server.unknown"),
        ("owner", lambda c: c["visits"].plan(SQL, epsilon=1), "server.role"),
        (
            "bob",
            lambda c: [c["visits"].sql(SQL, epsilon=e, key="two-1") for e in ("0.01", "0.02")],
            "server.key",
        ),
    ],
    ids=["raw", "spent", "foreign", "verify", "card", "owner", "key"],
)
def test_refusals(service: Running, who: str, ask: Any, code: str) -> None:
    with connected(service, who) as connection, pytest.raises(Refused) as caught:
        ask(connection)
    assert caught.value.code == code
    assert isinstance(caught.value, sf.BudgetExceeded) == (code == "budget.exceeded")


@pytest.mark.parametrize("who", ["revoked", "expired"])
def test_tokens_that_ended(service: Running, who: str) -> None:
    with pytest.raises(Refused) as caught:
        connected(service, who)
    assert caught.value.code == "server.token"


def test_an_owner_looks(service: Running) -> None:
    with connected(service, "boss") as connection:
        assert set(connection.datasets) == {"visits", "clinic"}
        ledger = connection["visits"].ledger
        assert ledger.verify().ok
        assert "ada" in ledger.shares
        assert ledger.share is None
