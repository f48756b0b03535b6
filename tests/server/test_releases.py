"""One charge for each key, the same bytes for the same key, and what is said when there is no
answer.
"""

from __future__ import annotations

import asyncio
import datetime
import io
import json
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from fastapi import FastAPI

from sfumato.answers.answer import Answer
from sfumato.errors import Refused
from sfumato.server.http.asgi_app import create
from sfumato.server.request_store import RequestKey, RequestStore
from sfumato.server.tokens import create_token as token
from sfumato.server.workers.worker_pool import Message, Pool, Worker

from .inside import Inside, of_class, prompt
from .service import SQL, Deployment, service

pytestmark = pytest.mark.xdist_group("server-releases")
RELEASE = "/api/datasets/visits/release"
CLASS = 2.0  # seconds, where a reply has to wait for the end of its class


@pytest.fixture(autouse=True)
def promptly() -> Iterator[None]:
    """Make deadline classes long by default, and let no test wait for the end of a class or of a
    worker's rest.
    """
    with prompt(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.server.workers.worker_pool.REST", 0.0)
        yield


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    changed_deployment = service(tmp_path_factory.mktemp("releases"), budget="100")
    text = (
        changed_deployment.path.read_text(encoding="utf-8")
        .replace("ada = 100", "ada = 100\npoor = 0.5")
        .replace("max_rows = 2\n", "")
    )  # of the clinic
    changed_deployment.path.write_text(
        text.replace("overruns_per_analyst = 100", "overruns_per_analyst = 20"), encoding="utf-8"
    )
    return changed_deployment


def newcomer(deployment: Deployment, name: str, dataset: str) -> dict[str, str]:
    """What an analyst sends along who has a token only now."""
    state = RequestStore(deployment.config.tokens)
    try:
        return {
            "Authorization": f"Bearer {token(state, name=name, role='analyst', datasets=[dataset])}"
        }
    finally:
        state.close()


@pytest.fixture(scope="module")
def app(deployment: Deployment) -> FastAPI:
    return create(deployment.path)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[Inside]:
    with Inside(app) as inside:
        yield inside


def ask(
    client: Inside,
    deployment: Deployment,
    key: str,
    epsilon: str = "0.25",
    who: str = "ada",
    sql: str = SQL,
    **headers: str,
) -> Any:
    return client.post(
        RELEASE,
        json={"sql": sql, "epsilon": epsilon},
        headers={**deployment.header(who), "Idempotency-Key": key, **headers},
    )


def spent(app: FastAPI) -> Any:
    return app.state.curator.served["visits"].ledger.spent.parameters["epsilon"]


def test_an_answer_is_whole(client: Inside, deployment: Deployment) -> None:
    reply = ask(client, deployment, "whole").json()
    answer = Answer.from_json(json.dumps(reply["answer"]))
    assert [row["city"] for row in reply["table"]["rows"]] == list(answer["city"])
    for row, value, low in zip(
        reply["table"]["rows"], answer["n"], answer.interval("n")[0], strict=True
    ):
        assert (row["n"], row["n_low"]) == (round(value), math.floor(low))  # whole numbers
    assert reply["cost"]["epsilon"] == "1/4"
    assert reply["receipt"]["number"] == answer.receipts[0].number
    assert reply["recalled"] == ""


def test_a_retry_gets_the_same_bytes_and_costs_nothing(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    first = ask(client, deployment, "retry", "0.5")
    before = spent(app)
    assert [ask(client, deployment, "retry", "0.5").content for _ in range(3)] == [
        first.content
    ] * 3
    assert spent(app) == before


def test_another_layout_of_the_same_question_is_the_same_question(
    client: Inside, deployment: Deployment
) -> None:
    first = ask(client, deployment, "layout")
    text = '{ "epsilon": "0.25",\n "sql": ' + json.dumps(SQL) + "}"
    again = client.post(
        RELEASE,
        content=text,
        headers={
            **deployment.header("ada"),
            "Idempotency-Key": "layout",
            "Content-Type": "application/json",
        },
    )
    assert again.content == first.content


def test_another_question_under_a_key_is_a_conflict(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    ask(client, deployment, "conflict")
    before = spent(app)
    reply = ask(client, deployment, "conflict", "0.375")
    assert (reply.status_code, reply.json()["code"]) == (409, "server.key")
    assert spent(app) == before


def test_keys_are_the_askers_own(client: Inside, deployment: Deployment) -> None:
    first = ask(client, deployment, "mine", "0.0625")
    bobs_reply = ask(client, deployment, "mine", "0.0625", who="bob")
    assert bobs_reply.status_code == 200
    assert (
        bobs_reply.json()["recalled"] == first.json()["receipt"]["when"]
    )  # the stored answer, which bob's share paid for
    assert bobs_reply.json()["table"] == first.json()["table"]


def test_forms_are_of_one_answer(app: FastAPI, client: Inside, deployment: Deployment) -> None:
    csv = ask(client, deployment, "forms", "0.75", Accept="text/csv")
    before = spent(app)
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    rows = ask(client, deployment, "forms", "0.75").json()["table"]["rows"]
    arrow = ask(client, deployment, "forms", "0.75", Accept="application/vnd.apache.arrow.stream")
    with pa.ipc.open_stream(io.BytesIO(arrow.content)) as stream:
        table = stream.read_all()
    assert table["n"].to_pylist() == [row["n"] for row in rows]
    assert [float(line.split(",")[1]) for line in csv.text.splitlines()[1:]] == [
        row["n"] for row in rows
    ]
    assert ask(client, deployment, "forms", "0.75", Accept="text/csv").content == csv.content
    assert (
        ask(
            client, deployment, "forms", "0.75", Accept="application/vnd.apache.arrow.stream"
        ).content
        == arrow.content
    )
    assert spent(app) == before


def test_a_refusal_frees_its_key(app: FastAPI, client: Inside, deployment: Deployment) -> None:
    before = spent(app)
    reply = ask(client, deployment, "poor", "1000")
    assert (reply.status_code, reply.json()["code"]) == (402, "budget.exceeded")
    assert spent(app) == before
    assert ask(client, deployment, "poor", "0.125").status_code == 200


def test_a_share_binds(client: Inside, deployment: Deployment) -> None:
    header = {**newcomer(deployment, "poor", "visits"), "Idempotency-Key": "share"}
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 50", "epsilon": "0.375"}
    assert client.post(RELEASE, json=body, headers=header).status_code == 200
    reply = client.post(
        RELEASE, json={**body, "epsilon": "0.25"}, headers={**header, "Idempotency-Key": "share-2"}
    )
    assert (reply.status_code, reply.json()["place"]) == (402, "visits / poor")


def test_a_question_that_is_no_question(client: Inside, deployment: Deployment) -> None:
    assert (
        ask(client, deployment, "raw", sql="SELECT age FROM visits").json()["code"]
        == "sql.raw-rows"
    )
    assert (
        ask(client, deployment, "explain", sql="EXPLAIN PRIVACY " + SQL).json()["code"]
        == "server.explain"
    )
    for keys in (
        {},
        {"Idempotency-Key": ""},
        {"Idempotency-Key": "a b"},
        {"Idempotency-Key": "a" * 65},
    ):
        reply = client.post(
            RELEASE, json={"sql": SQL, "epsilon": 1}, headers={**deployment.header("ada"), **keys}
        )
        assert (reply.status_code, reply.json()["place"]) == (422, "Idempotency-Key")


def begun(app: FastAPI, key: str, body: dict[str, Any], until: float) -> RequestKey:
    """A request that some process began, and has until a moment to answer."""
    import hashlib

    from sfumato.server.http.request_models import Question

    request = RequestKey("visits", "ada", key)
    digest = hashlib.sha256(Question(**body).canonical()).hexdigest()
    assert app.state.curator.state.begin(request, digest, until)
    return request


def timed_out(app: FastAPI, key: str) -> None:
    """A request that is under way has had its time."""
    with app.state.curator.state._writing() as run:
        assert run(
            (
                "UPDATE request SET until = ? WHERE key = ? AND state = 'begun' AND until > "
                "? RETURNING key"
            ),
            (time.time() - 1, key, time.time()),
        )


def test_what_another_process_answers_is_waited_for(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    begun(app, "elsewhere", {"sql": SQL, "epsilon": "0.25"}, time.time() + 60)
    reply = ask(client, deployment, "elsewhere")
    assert (reply.status_code, reply.json()["code"], reply.headers["retry-after"]) == (
        409,
        "server.running",
        "1",
    )


def test_a_lost_request_with_a_stored_answer_gets_it(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    """The process ended after the ledger stored the answer and before a byte of it was sent."""
    stored = ask(client, deployment, "before-the-end", "0.875")
    before = spent(app)
    begun(app, "ended", {"sql": SQL, "epsilon": "0.875"}, time.time() - 1)
    reply = ask(client, deployment, "ended", "0.875")
    assert reply.json()["table"] == stored.json()["table"]
    assert ask(client, deployment, "ended", "0.875").content == reply.content
    assert spent(app) == before


def test_a_lost_request_without_an_answer_needs_a_new_key(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    before = spent(app)
    begun(app, "gone", {"sql": SQL, "epsilon": "0.9375"}, time.time() - 1)
    for _ in range(2):
        reply = ask(client, deployment, "gone", "0.9375")
        assert (reply.status_code, reply.json()["code"]) == (410, "server.lost")
    assert spent(app) == before
    assert ask(client, deployment, "gone-2", "0.9375").status_code == 200


def test_a_key_that_was_begun_before_is_never_free_again(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been charged then. A ledger that is busy when its answer is looked for says
    nothing about that.
    """
    stored = ask(client, deployment, "before-it-was-busy", "0.8125")
    before = spent(app)
    begun(app, "busy", {"sql": SQL, "epsilon": "0.8125"}, time.time() - 1)
    about = {
        "code": "ledger.busy",
        "place": "the book",
        "reason": "another writer; nothing was accepted",
        "rewrite": "",
    }
    first = Worker._read_message

    async def busy(worker: Worker) -> Message:
        message = await first(worker)
        return (
            Message("refused", {"refusal": json.dumps(about).encode()})
            if message.kind == "answer"
            else message
        )

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_read_message", busy)
        reply = ask(client, deployment, "busy", "0.8125")
    assert (reply.status_code, reply.json()["code"]) == (500, "server.internal")
    assert ask(client, deployment, "busy", "0.8125").json()["code"] == "server.running"
    timed_out(app, "busy")
    again = ask(client, deployment, "busy", "0.8125")
    assert again.json()["table"] == stored.json()["table"]
    assert spent(app) == before


async def stopped_once_charged(worker: Worker) -> Message:
    """What a worker says; one that says that it has charged is stopped there, as if the data took
    too long.
    """
    message = await read_from_worker(worker)
    if message.kind == "charged" and worker._process is not None:
        os.kill(worker._process.pid, signal.SIGSTOP)
    return message


read_from_worker = Worker._read_message


def straight_back(pool: Pool, worker: Worker, who: str, **_: bool) -> None:
    """A worker that is as good as before goes back into its slot: starting another takes its time,
    and is tested elsewhere.
    """
    pool._turns.give(who, worker)


@contextmanager
def overrunning() -> Iterator[None]:
    """Give questions little time, and stop their worker after the charge. A worker that stops too
    late still stores no answer, since its storing time is far away.
    """
    with of_class(0.1), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.server.releases.storing_time", lambda _: 600.0)
        patch.setattr(Worker, "_read_message", stopped_once_charged)
        yield


def test_an_overrun_keeps_its_charge_and_is_counted_and_limited(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql, before = "SELECT COUNT(*) AS n FROM visits WHERE age > 1", spent(app)
    with overrunning():
        reply = ask(client, deployment, "late", who="bob", sql=sql)
    assert (reply.status_code, reply.json()["code"]) == (503, "server.deadline")
    assert ask(client, deployment, "late", who="bob", sql=sql).json()["code"] == "server.lost"
    assert spent(app) - before == Fraction(1, 4)
    assert client.get(
        "/api/datasets/visits/overruns", headers=deployment.header("owner")
    ).json() == {
        "count": 1,
        "by": {"bob": 1},
    }
    monkeypatch.setattr(
        app.state.curator, "config", replace(app.state.curator.config, overruns_per_analyst=1)
    )
    reply = ask(client, deployment, "later", who="bob")
    assert (reply.status_code, reply.json()["code"]) == (403, "server.overruns")
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 60", "epsilon": "0.25"}
    assert (
        client.post(
            RELEASE,
            json=body,
            headers={**newcomer(deployment, "cleo", "visits"), "Idempotency-Key": "in-time"},
        ).status_code
        == 200
    )


def test_replies_do_not_leave_before_the_end_of_their_class(
    client: Inside, deployment: Deployment
) -> None:
    with of_class(0.5):
        begun = time.monotonic()
        ask(client, deployment, "class", sql="SELECT COUNT(*) AS n FROM visits WHERE age > 44")
        assert time.monotonic() - begun >= 0.5


POLLED = {"answer": (200, None), "failed": (410, "server.lost")}


@pytest.mark.parametrize("kind", sorted(POLLED))
def test_nothing_is_told_under_a_key_before_the_end_of_its_class(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A client that polls, in this process or in another, sees a request that runs until the moment
    when its reply leaves.
    """
    charged_at: list[float] = []
    first, second_store = Worker._read_message, RequestStore(deployment.config.tokens)

    async def read_message(worker: Worker) -> Message:
        message = await first(worker)
        if message.kind == "charged":
            charged_at.append(time.monotonic())
        return Message(kind, {}) if kind == "failed" and message.kind == "answer" else message

    sql, key = (
        f"SELECT COUNT(*) AS n FROM visits WHERE age < {sorted(POLLED).index(kind) + 40}",
        f"polled-{kind}",
    )
    with of_class(CLASS), monkeypatch.context() as patch:
        patch.setattr(Worker, "_read_message", read_message)
        patch.setattr(
            "sfumato.server.releases.storing_time", lambda _: None
        )  # as soon as it is made: what is tested is the key
        patch.setattr(Pool, "give", straight_back)
        request = asyncio.run_coroutine_threadsafe(
            _post(client, deployment, key, sql), client._loop
        )
        polls, stored = [], 0
        while not charged_at and not request.done():
            time.sleep(0.005)
        while not request.done():
            begun = time.monotonic()
            polled = ask(client, deployment, key, sql=sql)
            polls.append((begun, time.monotonic(), polled.status_code, polled.json().get("code")))
            record = second_store.find(RequestKey("visits", "ada", key), "application/json")
            stored += (
                record is not None and record.state != "begun" and time.time() < record.visible
            )
            time.sleep(0.01)
        reply = request.result()
    second_store.close()
    assert reply.status_code == (200 if kind == "answer" else 503)
    assert (
        stored > 10 or kind == "failed"
    )  # it was known for a good while, and not told; what broke is written down near the end
    early = [poll for poll in polls if poll[1] < charged_at[0] + CLASS]
    assert len(early) > 10
    assert {poll[2:] for poll in early} == {(409, "server.running")}
    time.sleep(0.05)
    polled = ask(client, deployment, key, sql=sql)
    assert (polled.status_code, polled.json().get("code")) == POLLED[kind]
    if kind == "answer":
        assert polled.content == reply.content


async def _post(
    client: Inside,
    deployment: Deployment,
    key: str,
    sql: str,
    who: str = "ada",
    epsilon: str = "0.25",
) -> Any:
    return await client._client.post(
        RELEASE,
        json={"sql": sql, "epsilon": epsilon},
        headers={**deployment.header(who), "Idempotency-Key": key},
    )


def test_the_book_does_not_tell_when_the_work_ended(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    """To an analyst: no entry of it, no card before the reply, no time in the reply but that of the
    charge. The answer is stored at a moment of its class.
    """
    with of_class(CLASS):
        request = asyncio.run_coroutine_threadsafe(
            _post(client, deployment, "book", "SELECT COUNT(*) AS n FROM visits WHERE age < 33"),
            client._loop,
        )
        served, cards = app.state.curator.served["visits"], []
        last = served.ledger.head.number
        while not request.done():
            for number in range(last, last + 3):
                reply = client.get(
                    f"/api/datasets/visits/cards/{number}", headers=deployment.header("ada")
                )
                cards.append((reply.status_code, request.done()))
            time.sleep(0.01)
    assert {status for status, done in cards if not done} == {404}
    reply = request.result().json()
    when, number = reply["receipt"]["when"], reply["receipt"]["number"]
    assert (
        client.get(
            f"/api/datasets/visits/cards/{number}", headers=deployment.header("ada")
        ).status_code
        == 200
    )
    assert reply["answer"]["facts"]["released"] == when[:19] + "+00:00"
    stored = next(
        entry
        for entry in served.ledger.history()
        if entry.kind == "answer" and entry.number > number
    )
    after = (
        datetime.datetime.fromisoformat(stored.when) - datetime.datetime.fromisoformat(when)
    ).total_seconds()
    assert CLASS - 0.51 <= after < CLASS
    pages = [
        client.get(
            f"/api/datasets/visits/history?after={number - 1}", headers=deployment.header(who)
        ).json()["entries"]
        for who in ("ada", "owner")
    ]
    assert [entry["kind"] for entry in pages[0]] == ["charge"]
    assert "answer" in [entry["kind"] for entry in pages[1]]


def test_a_limit_on_overruns_holds_for_many_at_once(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overruns() -> int:
        count: int = (
            client.get("/api/datasets/visits/overruns", headers=deployment.header("owner"))
            .json()["by"]
            .get("bob", 0)
        )
        return count

    async def all_at_once() -> list[Any]:
        texts = [f"SELECT COUNT(*) AS n FROM visits WHERE spend < {turn + 1}" for turn in range(20)]
        return await asyncio.gather(
            *(
                _post(client, deployment, f"at-once-{turn}", text, "bob")
                for turn, text in enumerate(texts)
            )
        )

    paid, before = spent(app), overruns()
    monkeypatch.setattr(
        app.state.curator,
        "config",
        replace(app.state.curator.config, overruns_per_analyst=before + 2),
    )
    monkeypatch.setattr("sfumato.server.releases.PATIENCE", 110.0)  # new workers begin meanwhile
    with overrunning():
        ends = Counter(reply.json()["code"] for reply in client.run(all_at_once()))
    assert overruns() == before + 2
    assert spent(app) - paid == Fraction(2, 4)
    assert ends["server.deadline"] == 2
    assert set(ends) <= {"server.deadline", "server.overruns", "server.busy"}


@pytest.mark.parametrize("code", ["ledger.full", "ledger.busy"])
def test_once_charged_nothing_says_that_nothing_was(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """The storage of the ledger refuses after the charge: the key is void, and is not charged
    again.
    """
    about = {"code": code, "place": "the book", "reason": "no room", "rewrite": "", "over": False}
    first = Worker._read_message

    async def full(worker: Worker) -> Message:
        message = await first(worker)
        return (
            Message("refused", {"refusal": json.dumps(about).encode()})
            if message.kind == "answer"
            else message
        )

    sql, before = (
        f"SELECT COUNT(*) AS n FROM visits WHERE spend > {code.count('l') + 70}",
        spent(app),
    )
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_read_message", full)
        patch.setattr(Pool, "give", straight_back)
        reply = ask(client, deployment, code.replace(".", "-"), sql=sql, who="ada")
    assert (reply.status_code, reply.json()["code"]) == (503, "server.deadline")
    assert spent(app) - before == Fraction(1, 4)
    again = ask(client, deployment, code.replace(".", "-"), sql=sql, who="ada")
    assert (again.status_code, again.json()["code"]) == (410, "server.lost")
    assert spent(app) - before == Fraction(1, 4)


def test_records_that_cannot_be_written_after_the_charge(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql, before = "SELECT COUNT(*) AS n FROM visits WHERE spend > 77", spent(app)

    def full(*_: Any, **__: Any) -> None:
        raise Refused(
            "server.storage",
            "the service's own records",
            "they cannot be read or written",
            "see to the disk",
        )

    with monkeypatch.context() as patch:
        patch.setattr(RequestStore, "store", full)
        patch.setattr(Pool, "give", straight_back)
        reply = ask(client, deployment, "unwritten", sql=sql)
    assert (reply.status_code, reply.json()["code"]) == (500, "server.internal")
    assert spent(app) - before == Fraction(1, 4)
    assert ask(client, deployment, "unwritten", sql=sql).json()["code"] == "server.running"
    timed_out(app, "unwritten")
    again = ask(client, deployment, "unwritten", sql=sql)
    assert again.status_code == 200  # from the ledger
    assert again.json()["recalled"] == again.json()["receipt"]["when"]
    assert spent(app) - before == Fraction(1, 4)


def test_what_was_learned_is_shown_to_who_paid(client: Inside, deployment: Deployment) -> None:
    headers = {"ada": deployment.header("clinic-ada"), "bob": newcomer(deployment, "bob", "clinic")}
    body = {"sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5"}

    def plan(who: str) -> Any:
        return client.post("/api/datasets/clinic/plan", json=body, headers=headers[who]).json()

    def cost(who: str, key: str) -> Any:
        return client.post(
            "/api/datasets/clinic/release",
            json=body,
            headers={**headers[who], "Idempotency-Key": key},
        )

    def share(who: str) -> Any:
        return client.get("/api/datasets/clinic/budget", headers=headers[who]).json()["share"][
            "spent"
        ]["epsilon"]

    unknown = plan("ada")
    assert unknown["error"]["n"] == "after learning"
    assert cost("ada", "1").status_code == 200
    assert isinstance(plan("ada")["error"]["n"], float)
    bobs_plan = plan("bob")
    assert bobs_plan["error"] == unknown["error"]
    assert not any("(learned" in line for line in bobs_plan["explained"])
    assert cost("bob", "1").status_code == 200
    assert share("bob") == bobs_plan["cost"]["epsilon"] == share("ada")
    assert isinstance(plan("bob")["error"]["n"], float)


def test_a_release_below_the_least_cost_is_refused_before_anything_is_written(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions at ε = 10⁻⁶ were taken, so that the budget did not bound their number. What is
    offered instead passes; what is stored stays free.
    """
    curator = app.state.curator
    stored = ask(client, deployment, "least-stored", "0.03125")
    assert stored.status_code == 200
    monkeypatch.setattr(
        curator, "config", replace(curator.config, most_releases=1000)
    )  # of a budget of 100
    before = spent(app)
    plan = RELEASE.replace("release", "plan")
    for arguments in (
        {"epsilon": "0.000001"},
        {"within": "100000000"},
        {"promise": {"notion": "Pure", "epsilon": "0.09"}},
    ):
        question = {"sql": "SELECT COUNT(*) AS least FROM visits", **arguments}
        for path in (plan, RELEASE):
            reply = client.post(
                path,
                json=question,
                headers={**deployment.header("ada"), "Idempotency-Key": "least"},
            )
            assert (reply.status_code, reply.json()["code"]) == (400, "server.least")
            assert reply.json()["rewrite"] == '"epsilon": "0.1"'
    assert spent(app) == before
    assert curator.state.find(RequestKey("visits", "ada", "least"), "application/json") is None
    again = ask(client, deployment, "least-again", "0.03125")
    assert (again.status_code, again.json()["recalled"] != "") == (200, True)
    assert spent(app) == before
    assert (
        ask(
            client, deployment, "least", "0.1", sql="SELECT COUNT(*) AS least FROM visits"
        ).status_code
        == 200
    )


def test_what_is_kept_for_a_name_has_an_end(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = app.state.curator
    before = spent(app)
    monkeypatch.setattr(curator.quota, "_most", 1000)
    reply = ask(client, deployment, "room", "0.25", sql="SELECT COUNT(*) AS room FROM visits")
    assert (reply.status_code, reply.json()["code"]) == (403, "server.stored")
    assert spent(app) == before
    assert curator.state.find(RequestKey("visits", "ada", "room"), "application/json") is None


def test_one_name_does_not_take_all_workers(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One analyst with 60 requests: another was refused after 30 seconds. Now the other's turn is
    next, and of the many so many wait.
    """
    monkeypatch.setattr(app.state.curator.pool._turns, "_waiting", 3)
    with of_class(CLASS):
        hostile = [
            asyncio.run_coroutine_threadsafe(
                _post(client, deployment, f"many-{i}", f"SELECT COUNT(*) AS many{i} FROM visits"),
                client._loop,
            )
            for i in range(12)
        ]
        while not any(
            request.done() for request in hostile
        ):  # those who may not wait are told at once
            time.sleep(0.01)
        begun = time.monotonic()
        bobs_reply = ask(
            client, deployment, "other-turn", who="bob", sql="SELECT COUNT(*) AS other FROM visits"
        )
        took = time.monotonic() - begun
        codes = [request.result().json().get("code") for request in hostile]
    assert bobs_reply.status_code == 200
    assert took < 3 * CLASS + 1  # the one under way, perhaps one whose turn had come, and the own
    assert codes.count("server.waiting") == 8


def test_a_name_may_have_a_number_of_overruns_of_its_own(
    app: FastAPI, client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More for one analyst was more for all."""
    curator = app.state.curator
    monkeypatch.setattr(RequestStore, "count_overruns", lambda *_: 3)
    datasets = {
        name: replace(dataset, overruns={"bob": 10**6})
        for name, dataset in curator.config.datasets.items()
    }
    monkeypatch.setattr(
        curator, "config", replace(curator.config, overruns_per_analyst=3, datasets=datasets)
    )
    codes = [
        ask(
            client, deployment, f"own-{who}", who=who, sql="SELECT COUNT(*) AS own FROM visits"
        ).status_code
        for who in ("ada", "bob")
    ]
    assert codes == [403, 200]
