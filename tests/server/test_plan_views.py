"""Plans over the wire: public, kept without statements, and true now."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.server import datasets
from sfumato.server.config import load
from sfumato.server.datasets import Served
from sfumato.server.http.problems import ProblemError
from sfumato.server.http.request_models import Question
from sfumato.server.plan_views import PlanView, is_affordable, is_paid, plan_reply
from sfumato.server.service import CuratorService

from .service import service

BY_CITY = "SELECT city, COUNT(*) AS n, AVG(spend) AS m, SUM(age) AS s FROM visits GROUP BY city"


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CuratorService]:
    curator_service = CuratorService(
        service(tmp_path_factory.mktemp("plans"), budget="2", deadline="[2]").config
    )
    yield curator_service
    curator_service.close()


@pytest.fixture
def served(curator: CuratorService) -> Served:
    curator.served["visits"].share("ada")
    return curator.served["visits"]


def planned(
    curator: CuratorService, served: Served, who: str = "ada", **arguments: Any
) -> PlanView:
    question = Question(**arguments)
    return asyncio.run(curator.plans.plan(served, who, question, question.canonical()))


def decode_reply(view: PlanView) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(plan_reply(view, affordable=True))
    return reply


def test_a_plan_says_what_the_library_says(curator: CuratorService, served: Served) -> None:
    reply = decode_reply(planned(curator, served, sql=BY_CITY, epsilon="0.5"))
    plan = served.table.plan(BY_CITY, epsilon="0.5")
    assert reply["error"] == plan.error()
    assert reply["cost"] == json.loads(plan.cost.to_json())
    assert reply["explained"] == plan.explain().splitlines()
    assert reply["columns"] == [
        {"name": "n", "kind": "count"},
        {"name": "m", "kind": "mean"},
        {"name": "s", "kind": "sum"},
    ]
    assert (reply["keys"], reply["rows"], reply["deadline"]) == (["city"], 3, 2.0)


def test_the_sample_is_invented(curator: CuratorService, served: Served) -> None:
    reply = decode_reply(planned(curator, served, sql=BY_CITY, epsilon="0.5", group_size=500))
    sample, error = reply["sample"], reply["error"]
    assert [row["city"] for row in sample["rows"]] == ["Bari", "Milano", "Roma"]
    assert {(row["n"], row["m"]) for row in sample["rows"]} == {(500.0, 50.0)}
    assert [row["n_high"] - row["n"] for row in sample["rows"]] == [pytest.approx(error["n"])] * 3
    assert sample["invented"] is True


def test_keys_that_are_not_public_are_invented(curator: CuratorService, served: Served) -> None:
    reply = decode_reply(
        planned(
            curator,
            served,
            sql="SELECT note AS what, COUNT(*) AS n FROM visits GROUP BY note",
            epsilon="0.5",
        )
    )
    assert reply["rows"] is None
    assert [row["what"] for row in reply["sample"]["rows"]] == ["a", "b", "c"]


def test_no_statement_is_made(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.tables.plan import query_plan

    monkeypatch.setattr(
        query_plan,
        "build_statements",
        lambda *_: pytest.fail("a plan of the service makes no statements"),
    )
    planned(curator, served, sql="SELECT COUNT(*) AS n FROM visits WHERE age > 33", epsilon="0.5")


def test_plans_are_kept(curator: CuratorService, served: Served) -> None:
    assert planned(curator, served, sql=BY_CITY, epsilon="0.25") is planned(
        curator, served, sql=BY_CITY, epsilon="0.25"
    )
    assert planned(curator, served, sql=BY_CITY, epsilon="0.25") is not planned(
        curator, served, sql=BY_CITY, epsilon="0.250"
    )


def test_nobody_is_quicker_for_what_others_planned(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned_for: list[str] = []
    true = curator.plans.make
    monkeypatch.setattr(
        curator.plans,
        "make",
        lambda *arguments: planned_for.append(arguments[1]) or true(*arguments),
    )
    for who in ("ada", "bob", "ada", "bob"):
        planned(curator, served, who, sql=BY_CITY, epsilon="0.1875")
    assert planned_for == ["ada", "bob"]


def test_a_kept_plan_is_another_where_something_was_learned(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = planned(curator, served, sql=BY_CITY, epsilon="0.375")
    monkeypatch.setattr(Served, "lessons", ("a lesson",))
    monkeypatch.setattr(Served, "unpaid_lessons", lambda *_: [])
    assert planned(curator, served, sql=BY_CITY, epsilon="0.375") is not before


def test_what_is_refused_is_not_kept(curator: CuratorService, served: Served) -> None:
    for _ in range(2):
        with pytest.raises(Refused):
            planned(curator, served, sql="SELECT age FROM visits", epsilon="1")


def test_what_can_be_afforded_is_true_now(tmp_path: Path) -> None:
    curator = CuratorService(service(tmp_path, budget="2").config)
    served = curator.served["visits"]
    served.share("ada")
    served.share("bob")
    large, small = (
        planned(curator, served, sql=BY_CITY, epsilon=amount) for amount in ("1.5", "0.25")
    )
    assert is_affordable(large, served, "ada")
    served.table.sql(BY_CITY, epsilon="1.5", share="ada")
    medium = planned(curator, served, sql=BY_CITY, epsilon="1")
    assert [is_affordable(view, served, "ada") for view in (small, medium, large)] == [
        True,
        False,
        True,
    ]  # the last is stored, and was paid for
    assert is_affordable(large, served, "bob")  # whose share has room for what ada paid
    assert [is_paid(view, served, "ada") for view in (small, medium, large)] == [False, False, True]
    assert not is_paid(large, served, "bob")  # who pays what ada paid
    curator.close()


def test_plans_are_kept_up_to_a_size(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server import plan_views

    monkeypatch.setattr(plan_views, "MOST_BYTES", 20_000)
    curator.plans._cache.clear()
    curator.plans._bytes = 0
    for place in range(20):
        planned(
            curator,
            served,
            sql=f"SELECT COUNT(*) AS n FROM visits WHERE age > {place}",
            epsilon="0.5",
        )
    cache = curator.plans._cache
    assert 0 < len(cache) < 20
    assert curator.plans._bytes == sum(view.size for view in cache.values()) <= 20_000


def test_a_reply_has_room_for_so_many_numbers(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curator.plans, "_config", replace(curator.config, answer_bytes=10_000))
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


def read_edge_replies(curator: CuratorService, who: str) -> list[str]:
    """Plan the questions at the edge of what can be planned, and return for each the refusal or the
    expected errors that this analyst sees.
    """
    replies = []
    for arguments in EDGES:
        try:
            replies.append(
                str(
                    decode_reply(planned(curator, curator.served["visits"], who, **arguments))[
                        "error"
                    ]
                )
            )
        except Refused as refusal:
            replies.append(str(refusal))
    return replies


def lacking(folder: Path) -> CuratorService:
    """A service whose owner did not say between which ends `spend` lies."""
    deployment = service(folder)
    text = deployment.path.read_text(encoding="utf-8")
    deployment.path.write_text(text.replace(", spend = [0, 100]", ""), encoding="utf-8")
    return CuratorService(load(deployment.path))


def test_who_has_not_paid_for_a_lesson_hears_what_was_heard_before_it(tmp_path: Path) -> None:
    curator = lacking(tmp_path)
    served = curator.served["visits"]
    for who in ("ada", "bob"):
        served.share(who)
    before = read_edge_replies(curator, "bob")
    with datasets.protect_dataset(
        served.config
    ) as worker:  # as a worker has it, in another process
        worker.sql("SELECT SUM(spend) AS s FROM visits", epsilon="60", share="ada")
    for _ in range(2):  # the first time this process does not know of the lesson yet
        assert read_edge_replies(curator, "bob") == before
    assert read_edge_replies(curator, "ada") != before  # who paid is told more
    assert read_edge_replies(curator, "bob") == before
    assert served.ledger.account("bob").spent[0] == 0
    curator.close()


def test_who_owes_for_a_part_is_told_the_price_of_the_rest_too(tmp_path: Path) -> None:
    deployment = service(tmp_path)
    text = deployment.path.read_text(encoding="utf-8")
    deployment.path.write_text(
        text.replace("bounds = { age = [0, 120], spend = [0, 100] }", ""), encoding="utf-8"
    )
    curator = CuratorService(load(deployment.path))
    served = curator.served["visits"]
    for who in ("ada", "bob"):
        served.share(who)
    with datasets.protect_dataset(served.config) as worker:
        worker.sql("SELECT SUM(spend) AS s FROM visits", epsilon="60", share="ada")
        planned(curator, served, sql="SELECT SUM(spend) AS s FROM visits", epsilon="1")
        question = {"sql": "SELECT SUM(spend) AS s, SUM(age) AS a FROM visits", "epsilon": "0.6"}
        cost = decode_reply(planned(curator, served, "bob", **question))["cost"]
        worker.sql(question["sql"], epsilon=question["epsilon"], share="bob")
    assert (
        Fraction(cost["epsilon"]) == served.ledger.account("bob").spent[0] == Fraction("10.7")
    )  # of which 10 for the lesson, 0.1 for the other
    curator.close()


def many(
    curator: CuratorService, who: str, count: int, name: str = "n"
) -> list[asyncio.Task[PlanView]]:
    """Plans of one name, under way."""
    questions = [
        Question(sql=f"SELECT COUNT(*) AS {name}{i} FROM visits", epsilon="0.25")
        for i in range(count)
    ]
    return [
        asyncio.create_task(
            curator.plans.plan(curator.served["visits"], who, question, question.canonical())
        )
        for question in questions
    ]


def test_slow_plans_of_one_name_do_not_delay_another(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty plans of one analyst kept everybody waiting, on other datasets too: they held a lock
    of the dataset, and all threads. Now one is planned at a time, and another's plan of the same
    dataset does not wait for it.
    """
    served.share("bob")
    true, stop, slow = curator.plans.make, threading.Event(), list[str]()

    def slow_make(*arguments: Any) -> PlanView:
        if arguments[1] == "ada":
            slow.append("ada")
            assert stop.wait(60)
        return true(*arguments)

    async def live() -> None:
        monkeypatch.setattr(curator.plans, "make", slow_make)
        hostile = many(curator, "ada", 20, "slow")
        while not slow:
            await asyncio.sleep(0.005)
        async with asyncio.timeout(30):
            assert all(
                isinstance(view, PlanView)
                for view in await asyncio.gather(*many(curator, "bob", 3, "quick"))
            )
            await asyncio.to_thread(lambda: None)  # nor is any other thread taken
        assert slow == ["ada"]
        for task in hostile[:10]:
            task.cancel()  # who goes away still holds the thread that plans for them
        await asyncio.sleep(0.01)
        assert slow == ["ada"]
        stop.set()
        await asyncio.gather(*hostile, return_exceptions=True)

    asyncio.run(live())


def test_as_many_plans_of_one_name_wait_as_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = service(tmp_path)
    curator = CuratorService(replace(deployment.config, waiting_per_analyst=2))
    stop = threading.Event()
    true = curator.plans.make
    monkeypatch.setattr(
        curator.plans, "make", lambda *arguments: (stop.wait(60), true(*arguments))[1]
    )

    async def live() -> list[Any]:
        tasks = many(curator, "ada", 5)
        await asyncio.sleep(0.05)
        stop.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = asyncio.run(live())
    assert [outcome.problem.code for outcome in outcomes if isinstance(outcome, ProblemError)] == [
        "server.waiting"
    ] * 2
    assert sum(isinstance(outcome, PlanView) for outcome in outcomes) == 3
    curator.close()


def test_planning_has_a_limit_and_an_allowance(tmp_path: Path) -> None:
    """A plan is free. What it may take of the processor is limited for each question, and by name
    for all of them in a minute; another name has its own.
    """
    heavy = (
        "SELECT SUM(CASE "
        + " ".join(f"WHEN age = {i} THEN {i}" for i in range(200))
        + " ELSE 0 END) AS s{} FROM visits"
    )
    curator = CuratorService(
        replace(service(tmp_path).config, plan_seconds=0.02, planning_per_minute=1.0)
    )
    served = curator.served["visits"]
    with suppress(Refused):  # the first plan of a process imports what planning needs
        planned(curator, served, "eve", sql=heavy.format(""), within="100")
    codes, last = [], None
    while last is None:
        try:
            planned(curator, served, "ada", sql=heavy.format(len(codes)), within="100")
        except Refused as refusal:
            codes.append(refusal.code)
        except ProblemError as stopped:
            last = stopped.problem
    assert set(codes) == {"plan.effort"}
    assert 10 < len(codes) < 100
    assert (last.code, last.status) == ("server.planning", 429)
    assert int(last.headers["Retry-After"]) >= 1
    assert (
        planned(
            curator, served, "bob", sql="SELECT COUNT(*) AS n FROM visits", epsilon="0.5"
        ).seconds
        < 0.1
    )
    curator.close()


def test_a_question_is_counted_before_it_is_planned(
    curator: CuratorService, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curator.plans, "make", lambda *_: pytest.fail("it was planned"))
    levels = ", ".join(f"{i / 1000:.3f}" for i in range(1, 900))
    with pytest.raises(Refused) as caught:
        planned(
            curator,
            served,
            sql=f"SELECT QUANTILES(age, [{levels}]) AS q FROM visits",
            epsilon="0.5",
        )
    assert caught.value.code == "server.complex"


def test_plans_made_at_the_same_time_are_those_made_one_by_one(tmp_path: Path) -> None:
    """No lock is held while a question is planned: who has paid for a lesson, and who has not, hear
    the same as one after the other.
    """
    curator = lacking(tmp_path)
    served = curator.served["visits"]
    for who in ("ada", "bob"):
        served.share(who)
    before = read_edge_replies(curator, "bob")
    with datasets.protect_dataset(served.config) as worker:
        worker.sql("SELECT SUM(spend) AS s FROM visits", epsilon="60", share="ada")
    paid = read_edge_replies(curator, "ada")
    fresh_curator = CuratorService(curator.config)  # which has not heard of the lesson

    async def ask(who: str, arguments: dict[str, Any]) -> str:
        question = Question(**arguments)
        try:
            return str(
                decode_reply(
                    await fresh_curator.plans.plan(
                        fresh_curator.served["visits"], who, question, question.canonical()
                    )
                )["error"]
            )
        except Refused as refusal:
            return str(refusal)

    async def live() -> list[str]:
        return await asyncio.gather(
            *(ask(who, arguments) for arguments in EDGES * 5 for who in ("bob", "ada"))
        )

    replies = asyncio.run(live())
    assert replies[::2] == before * 5
    assert replies[1::2] == paid * 5
    fresh_curator.close()
    curator.close()
