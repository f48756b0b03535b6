"""Plans over the wire: public, kept without statements, and true now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.server import datasets
from sfumato.server.config import load
from sfumato.server.curator import Curator
from sfumato.server.datasets import Served
from sfumato.server.plans import Planned, affordable, replied
from sfumato.server.questions import Question

from .service import service

BY_CITY = "SELECT city, COUNT(*) AS n, AVG(spend) AS m, SUM(age) AS s FROM visits GROUP BY city"


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    found = Curator(service(tmp_path_factory.mktemp("plans"), budget="2", deadline="[2]").config)
    yield found
    found.close()


@pytest.fixture
def served(curator: Curator) -> Served:
    curator.served["visits"].share("ada")
    return curator.served["visits"]


def planned(curator: Curator, served: Served, who: str = "ada", **said: Any) -> Planned:
    asked = Question(**said)
    return asyncio.run(curator.plans.of(served, who, asked, asked.canonical()))


def told(found: Planned) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(replied(found, affordable=True))
    return said


def test_a_plan_says_what_the_library_says(curator: Curator, served: Served) -> None:
    found = told(planned(curator, served, sql=BY_CITY, epsilon="0.5"))
    plan = served.table.plan(BY_CITY, epsilon="0.5")
    assert found["error"] == plan.error()
    assert found["cost"] == json.loads(plan.cost.to_json())
    assert found["explained"] == plan.explain().splitlines()
    assert found["columns"] == [{"name": "n", "kind": "count"}, {"name": "m", "kind": "mean"}, {"name": "s", "kind": "sum"}]
    assert (found["keys"], found["rows"], found["deadline"]) == (["city"], 3, 2.0)


def test_the_sample_is_invented(curator: Curator, served: Served) -> None:
    found = told(planned(curator, served, sql=BY_CITY, epsilon="0.5", group_size=500))
    sample, error = found["sample"], found["error"]
    assert [row["city"] for row in sample["rows"]] == ["Bari", "Milano", "Roma"]
    assert {(row["n"], row["m"]) for row in sample["rows"]} == {(500.0, 50.0)}
    assert [row["n_high"] - row["n"] for row in sample["rows"]] == [pytest.approx(error["n"])] * 3
    assert sample["invented"] is True


def test_keys_that_are_not_public_are_invented(curator: Curator, served: Served) -> None:
    found = told(planned(curator, served, sql="SELECT note AS what, COUNT(*) AS n FROM visits GROUP BY note", epsilon="0.5"))
    assert found["rows"] is None
    assert [row["what"] for row in found["sample"]["rows"]] == ["a", "b", "c"]


def test_no_statement_is_made(curator: Curator, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.tables import plan

    monkeypatch.setattr(plan, "statements", lambda *_: pytest.fail("a plan of the service makes no statements"))
    planned(curator, served, sql="SELECT COUNT(*) AS n FROM visits WHERE age > 33", epsilon="0.5")


def test_plans_are_kept(curator: Curator, served: Served) -> None:
    assert planned(curator, served, sql=BY_CITY, epsilon="0.25") is planned(curator, served, sql=BY_CITY, epsilon="0.25")
    assert planned(curator, served, sql=BY_CITY, epsilon="0.25") is not planned(curator, served, sql=BY_CITY, epsilon="0.250")


def test_nobody_is_quicker_for_what_others_planned(curator: Curator, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    true = curator.plans.made
    monkeypatch.setattr(curator.plans, "made", lambda *given: made.append(given[1]) or true(*given))
    for who in ("ada", "bob", "ada", "bob"):
        planned(curator, served, who, sql=BY_CITY, epsilon="0.1875")
    assert made == ["ada", "bob"]


def test_a_kept_plan_is_another_where_something_was_learned(curator: Curator, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned(curator, served, sql=BY_CITY, epsilon="0.375")
    monkeypatch.setattr(Served, "lessons", ("a lesson",))
    monkeypatch.setattr(Served, "owed", lambda *_: [])
    assert planned(curator, served, sql=BY_CITY, epsilon="0.375") is not before


def test_what_is_refused_is_not_kept(curator: Curator, served: Served) -> None:
    for _ in range(2):
        with pytest.raises(Refused):
            planned(curator, served, sql="SELECT age FROM visits", epsilon="1")


def test_what_can_be_afforded_is_true_now(tmp_path: Path) -> None:
    curator = Curator(service(tmp_path, budget="2").config)
    served = curator.served["visits"]
    served.share("ada")
    served.share("bob")
    large, small = (planned(curator, served, sql=BY_CITY, epsilon=amount) for amount in ("1.5", "0.25"))
    assert affordable(large, served, "ada")
    served.table.sql(BY_CITY, epsilon="1.5", share="ada")
    other = planned(curator, served, sql=BY_CITY, epsilon="1")
    assert [affordable(one, served, "ada") for one in (small, other, large)] == [True, False, True]  # the last is stored, and was paid for
    assert affordable(large, served, "bob")  # whose share has room for what ada paid
    curator.close()


def test_plans_are_kept_up_to_a_size(curator: Curator, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.server import plans

    monkeypatch.setattr(plans, "MOST_BYTES", 20_000)
    curator.plans._kept.clear()
    curator.plans._bytes = 0
    for place in range(20):
        planned(curator, served, sql=f"SELECT COUNT(*) AS n FROM visits WHERE age > {place}", epsilon="0.5")
    kept = curator.plans._kept
    assert 0 < len(kept) < 20
    assert curator.plans._bytes == sum(one.size for one in kept.values()) <= 20_000


def test_a_reply_has_room_for_so_many_numbers(curator: Curator, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.server import plans

    monkeypatch.setattr(plans, "MOST_CELLS", 8)
    with pytest.raises(Refused) as caught:
        planned(curator, served, sql=BY_CITY, epsilon="0.4375")
    assert caught.value.code == "server.cells"


BEYOND = "SELECT SUM(spend * 1e270) AS s FROM visits"
EDGES: list[dict[str, Any]] = [
    {"sql": "SELECT SUM(spend) AS s FROM visits", "within": "0.000000001"},
    {"sql": "SELECT SUM(spend) AS s FROM visits", "within": "1"},
    {"sql": "SELECT SUM(spend) AS s FROM visits", "within": "100000000000000"},
    {"sql": BEYOND, "epsilon": "0.5"},
    {"sql": BEYOND, "within": "1"},
    {"sql": "SELECT SUM(CLAMP(spend * 1e270, 0, 1)) AS s FROM visits", "within": "0.000000001"},
]


def heard(curator: Curator, who: str) -> list[str]:
    """What somebody is told of questions at the edge of what can be planned: the refusal, or the expected errors."""
    found = []
    for said in EDGES:
        try:
            found.append(str(told(planned(curator, curator.served["visits"], who, **said))["error"]))
        except Refused as refusal:
            found.append(str(refusal))
    return found


def lacking(folder: Path) -> Curator:
    """A service whose owner did not say between which ends `spend` lies."""
    made = service(folder)
    text = made.path.read_text(encoding="utf-8")
    made.path.write_text(text.replace(", spend = [0, 100]", ""), encoding="utf-8")
    return Curator(load(made.path))


def test_who_has_not_paid_for_a_lesson_hears_what_was_heard_before_it(tmp_path: Path) -> None:
    curator = lacking(tmp_path)
    served = curator.served["visits"]
    for who in ("ada", "bob"):
        served.share(who)
    before = heard(curator, "bob")
    with datasets.table(served.config) as worker:  # as a worker has it, in another process
        worker.sql("SELECT SUM(spend) AS s FROM visits", epsilon="60", share="ada")
    for _ in range(2):  # the first time this process does not know of the lesson yet
        assert heard(curator, "bob") == before
    assert heard(curator, "ada") != before  # who paid is told more
    assert heard(curator, "bob") == before
    assert served.ledger.account("bob").spent[0] == 0
    curator.close()


def test_who_owes_for_a_part_is_told_the_price_of_the_rest_too(tmp_path: Path) -> None:
    made = service(tmp_path)
    text = made.path.read_text(encoding="utf-8")
    made.path.write_text(text.replace("bounds = { age = [0, 120], spend = [0, 100] }", ""), encoding="utf-8")
    curator = Curator(load(made.path))
    served = curator.served["visits"]
    for who in ("ada", "bob"):
        served.share(who)
    with datasets.table(served.config) as worker:
        worker.sql("SELECT SUM(spend) AS s FROM visits", epsilon="60", share="ada")
        planned(curator, served, sql="SELECT SUM(spend) AS s FROM visits", epsilon="1")
        said = {"sql": "SELECT SUM(spend) AS s, SUM(age) AS a FROM visits", "epsilon": "0.6"}
        cost = told(planned(curator, served, "bob", **said))["cost"]
        worker.sql(said["sql"], epsilon=said["epsilon"], share="bob")
    assert Fraction(cost["epsilon"]) == served.ledger.account("bob").spent[0] == Fraction("10.7")  # of which 10 for the lesson, 0.1 for the other
    curator.close()
