"""A notebook does not change when the data move behind the wall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import sfumato as sf
from sfumato.answers.answer import Answer
from sfumato.client.connection import Connection
from sfumato.client.remote_table import RemoteDatabase
from sfumato.client.transport import Wire
from sfumato.errors import Refused
from sfumato.testing.exact_checks import exact_answer

from ..session.clinic import clinic
from ..sql.people import protected
from .behind import TOKEN, Paper, behind

SQL = "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits WHERE age >= 18 GROUP BY city"


def notebook(visits: Any) -> list[Any]:
    """What an analyst would write, whatever `visits` is; what does not depend on noise."""
    plan = visits.plan(SQL, epsilon=0.5)
    query = (
        visits.where(visits["age"] >= 18)
        .where("city <> 'Bari'")
        .mutate(decade=sf.col("age") // 10)
        .group_by("city")
        .aggregate(
            n=sf.count(),
            people=sf.count_units(),
            mean=sf.mean("spend"),
            p50=sf.quantile("spend", 0.5),
            hist=sf.histogram("age", edges=range(0, 121, 30)),
        )
    )
    first, second = visits.sql(SQL, epsilon=0.5), query.release(epsilon=0.25)
    third = visits.release(query, promise=sf.Pure("1/8"))
    again = visits.sql(SQL, epsilon=0.5)
    within = visits.sql(
        "SELECT COUNT(*) AS n FROM visits WHERE age > $low", within=25, parameters={"low": 30}
    )
    explanation = visits.sql("EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert again.recalled
    assert again.to_json() == first.to_json()
    for answer in (first, second, third, within):
        assert isinstance(answer, Answer)
        assert answer.receipt is not None
        answer.to_pandas()
        answer.interval(answer.names[0])
        str(answer)
        answer.card()
    answers = (first, second, third, within)
    return [
        *(plan.cost, plan.error(), plan.error(0.9), plan.error(group_size=50)),
        *(plan.explain(), plan.promise, dict(plan.kinds), explanation),
        *((a.keys, a.rows, a.names, a.cost, a.rules) for a in answers),
        *([c.kind for c in a.columns] + [repr(p.mechanism) for p in a.pieces] for a in answers),
        *(visits.budget, visits.spent, visits.remaining, visits.declaration, visits.name),
        [(entry.number, entry.kind, entry.share, entry.cost) for entry in visits.ledger.history()],
        visits.ledger.verify().ok,
    ]


def test_the_same_notebook() -> None:
    with protected() as here, behind() as (there, _):
        mine, theirs = notebook(here), notebook(there["visits"])
    for my_value, their_value in zip(mine, theirs, strict=True):
        assert my_value == their_value


def test_answers_are_what_the_table_would_give() -> None:
    """To the last integer, but for the noise: exact answers on both sides of the wall."""
    with behind() as (there, paper):
        remote = there["visits"]
        query = remote.where("vip").group_by("city").aggregate(n=sf.count(), t=sf.sum("spend"))
        plan = paper.table.plan(query.plan(epsilon=1).text, epsilon=1)
        local = paper.table.where("vip").group_by("city").aggregate(n=sf.count(), t=sf.sum("spend"))
        mine = exact_answer(paper.table.plan(local, epsilon=1), paper.table)
        theirs = plan.finish(exact_answer(plan, paper.table))
        assert mine.rows == theirs.rows
        for name in ("n", "t"):
            assert (mine[name] == theirs[name]).all()


def test_what_is_sent_is_text_and_numbers() -> None:
    with behind() as (there, paper):
        there["visits"].where(sf.col("age") > 3).aggregate(n=sf.count()).release(
            epsilon="1/3", delta=1e-8, confidence=0.9, group_size=20
        )
        method, path, key, body = paper.log[-1]
        assert (method, path) == ("POST", "/api/datasets/visits/release")
        assert key
        assert body == {
            "sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 3",
            "epsilon": "1/3",
            "delta": "1/100000000",
            "confidence": "9/10",
            "group_size": 20,
        }


def test_keys_are_new_unless_they_are_given() -> None:
    with behind() as (there, paper):
        visits = there["visits"]
        first = visits.sql(SQL, epsilon=0.5)
        visits.sql(SQL, epsilon=0.25)
        arguments = [visits.sql(SQL, epsilon=0.125, key="mine") for _ in range(2)]
        keys = [key for _, path, key, _ in paper.log if path.endswith("release")]
        assert len(set(keys)) == 3
        assert keys[2:] == ["mine", "mine"]
        assert arguments[0] == arguments[1]
        assert first != arguments[0]


def test_a_lost_reply_is_asked_for_again_and_charged_once() -> None:
    lost: list[str] = []

    def losing(paper: Paper, request: httpx.Request) -> None:
        if request.url.path.endswith("release") and len(lost) < 2:
            paper(request)
            lost.append(request.headers["Idempotency-Key"])
            raise httpx.ReadError("the line is down")

    with behind(losing) as (there, paper):
        answer = there["visits"].sql(SQL, epsilon=0.5)
        assert len(lost) == 2
        assert len(set(lost)) == 1
        assert paper.table.spent.parameters["epsilon"] == answer.cost.parameters["epsilon"]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "sql.raw-rows": lambda t: t.sql("SELECT note FROM visits", epsilon=1),
    "sql.syntax": lambda t: t.sql("SELECT COUNT(* FROM visits", epsilon=1),
    "sql.column": lambda t: t.plan("SELECT SUM(spent) AS s FROM visits", epsilon=1),
    "budget.exceeded": lambda t: t.sql(SQL, epsilon=10**6),
    "plan.promise": lambda t: t.sql(SQL),
    "number.not-positive": lambda t: t.plan(SQL, epsilon=0),
    "expression.column": lambda t: t["spent"],
    "stage.unit": lambda t: t.group_by("user_id"),
    "within.columns": lambda t: t.plan(SQL, within=25),
}


@pytest.mark.parametrize("code", REFUSED)
def test_the_same_refusals(code: str) -> None:
    """To the letter, from here and from there."""
    with protected() as here, behind() as (there, _):
        refusals = []
        for table in (here, there["visits"]):
            with pytest.raises(Refused) as caught:
                REFUSED[code](table)
            refusals.append(caught.value)
    mine, theirs = refusals
    assert type(mine) is type(theirs)
    assert theirs.code == code
    if code != "plan.promise":  # said in one way: there are three ways to say it over the wire
        assert str(mine) == str(theirs)


ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "union": lambda t: t.union(t).aggregate(n=sf.count()).plan(epsilon=1),
    "not in": lambda t: (
        t.anti_join(t, on="user_id", where=sf.col("age") > 1)
        .aggregate(n=sf.count())
        .plan(epsilon=1)
    ),
    "learn": lambda t: t.learn(epsilon=0.1),
    "several": lambda t: t.release_all([], epsilon=1),
    "fresh": lambda t: t.sql(SQL, epsilon=1, fresh=True),
    "share": lambda t: t.sql(SQL, epsilon=1, share="bob"),
    "keys": lambda t: t.group_by(city=["Roma"]).aggregate(n=sf.count()).plan(epsilon=1),
    "not a query": lambda t: t.release("SELECT", epsilon=1),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_a_server_does_not_take_is_refused_with_the_reason(name: str) -> None:
    with behind() as (there, paper):
        visits = there["visits"]
        before = len(paper.log)
        with pytest.raises(Refused) as caught:
            ELSEWHERE[name](visits)
        assert caught.value.code in ("client.spelling", "client.option", "plan.query")
        assert caught.value.reason
        assert caught.value.rewrite
        assert len(paper.log) == before


def test_a_query_of_another_table_is_not_sent() -> None:
    with behind() as (first, _), behind() as (second, _):
        with pytest.raises(Refused) as caught:
            first["visits"].release(second["visits"].aggregate(n=sf.count()), epsilon=1)
        assert caught.value.code == "plan.query"


def test_bounds_are_learned_there() -> None:
    with behind(bounds={}) as (there, _):
        visits = there["visits"]
        plan = visits.aggregate(t=sf.sum("spend")).plan(epsilon=1)
        assert plan.error() == {"t": "after learning"}
        assert "learn" in plan.explain()
        answer = visits.aggregate(t=sf.sum("spend")).release(epsilon=1)
        assert any("was spent to find limits" in rule for rule in answer.rules)


def test_an_answer_of_another_kind() -> None:
    def strange(_: Paper, request: httpx.Request) -> httpx.Response | None:
        return (
            httpx.Response(200, json={"answer": {"sfumato": "x"}, "recalled": ""})
            if request.url.path.endswith("release")
            else None
        )

    with behind(strange) as (there, _):
        with pytest.raises(Refused) as caught:
            there["visits"].sql(SQL, epsilon=1)
        assert caught.value.code in ("client.reply", "answer.stored")


def several(db: Any) -> list[Any]:
    """What an analyst would write of several tables, wherever they are."""
    rows = (
        db["visits"]
        .join(db["patients"].where("age > 20"), on={"patient_id": "id"})
        .join(db.public["cities"], on="city")
    )
    query = (
        rows.where(sf.col("spend") < 9)
        .group_by("region")
        .aggregate(n=sf.count(), people=sf.count_units(), s=sf.sum("spend"))
    )
    plan, left = (
        query.plan(promise=PROMISE),
        db["visits"].anti_join(db.public["cities"], on="city").aggregate(n=sf.count()),
    )
    first, second, third = (
        db.release(query, promise=PROMISE),
        left.release(epsilon=1),
        db.sql("SELECT COUNT(*) AS n FROM patients", epsilon=1),
    )
    return [
        plan.cost,
        plan.error(),
        *((a.keys, a.rows, a.names, a.cost, a.rules) for a in (first, second, third)),
        db.spent,
        db.declaration,
    ]


PROMISE = sf.Approx(1, "1e-6")


def test_several_tables() -> None:
    with clinic() as here, clinic() as there:
        wire = Wire("http://127.0.0.1:9", TOKEN, transport=httpx.MockTransport(Paper(there)))
        with Connection(wire) as connection:
            db = connection["visits"]
            assert isinstance(db, RemoteDatabase)
            assert several(here) == several(db)
            for wrong in (
                lambda: db["cities"],
                lambda: db.plan(here["visits"].aggregate(n=sf.count()), epsilon=1),
            ):
                with pytest.raises(Refused):
                    wrong()
            assert repr(db).startswith("tables patients, visits, tests · unit patients.id · ")
            assert repr(db).endswith("\nat http://127.0.0.1:9")
            assert repr(db) == db.describe().text


def test_a_join_is_sent_as_sql() -> None:
    with behind() as (there, paper):
        visits = there["visits"]
        visits.join(visits.where("vip"), on="user_id").aggregate(n=sf.count()).plan(epsilon=1)
        assert (
            " JOIN (SELECT * FROM visits AS s WHERE vip) AS r ON l.user_id = r.user_id"
            in paper.log[-1][3]["sql"]
        )


def test_how_it_looks() -> None:
    with behind() as (there, _):
        assert repr(there["visits"]).startswith("table visits · unit user_id · add-remove\n")
        assert repr(there["visits"]).endswith("\nat http://127.0.0.1:9")
