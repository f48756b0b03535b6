"""One charge for each key, the same bytes for the same key, and what is said when there is no answer."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi import FastAPI

from sfumato.answers.answer import Answer
from sfumato.server.app import create
from sfumato.server.pool import Said, Worker
from sfumato.server.state import Request

from .inside import Inside
from .service import SQL, Made, service

pytestmark = pytest.mark.xdist_group("server-releases")
RELEASE = "/api/datasets/visits/release"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    found = service(tmp_path_factory.mktemp("releases"), deadline="[0.35]", budget="100")
    text = found.path.read_text(encoding="utf-8").replace("ada = 100", "ada = 100\npoor = 0.5")
    found.path.write_text(text.replace("overruns_per_analyst = 100", "overruns_per_analyst = 2"), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def app(made: Made) -> FastAPI:
    return create(made.path)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[Inside]:
    with Inside(app) as found:
        yield found


def asked(client: Inside, made: Made, key: str, epsilon: str = "0.25", who: str = "ada", sql: str = SQL, **headers: str) -> Any:
    return client.post(RELEASE, json={"sql": sql, "epsilon": epsilon}, headers={**made.header(who), "Idempotency-Key": key, **headers})


def spent(app: FastAPI) -> Any:
    return app.state.curator.served["visits"].ledger.spent.parameters["epsilon"]


def test_an_answer_is_whole(client: Inside, made: Made) -> None:
    found = asked(client, made, "whole").json()
    answer = Answer.from_json(json.dumps(found["answer"]))
    assert [row["city"] for row in found["table"]["rows"]] == list(answer["city"])
    for row, value, low in zip(found["table"]["rows"], answer["n"], answer.interval("n")[0], strict=True):
        assert (row["n"], row["n_low"]) == (value, low)
    assert found["cost"]["epsilon"] == "1/4"
    assert found["receipt"]["number"] == answer.receipts[0].number
    assert found["recalled"] == ""


def test_a_retry_gets_the_same_bytes_and_costs_nothing(app: FastAPI, client: Inside, made: Made) -> None:
    first = asked(client, made, "retry", "0.5")
    before = spent(app)
    assert [asked(client, made, "retry", "0.5").content for _ in range(3)] == [first.content] * 3
    assert spent(app) == before


def test_another_layout_of_the_same_question_is_the_same_question(client: Inside, made: Made) -> None:
    first = asked(client, made, "layout")
    text = '{ "epsilon": "0.25",\n "sql": ' + json.dumps(SQL) + "}"
    again = client.post(RELEASE, content=text, headers={**made.header("ada"), "Idempotency-Key": "layout", "Content-Type": "application/json"})
    assert again.content == first.content


def test_another_question_under_a_key_is_a_conflict(app: FastAPI, client: Inside, made: Made) -> None:
    asked(client, made, "conflict")
    before = spent(app)
    found = asked(client, made, "conflict", "0.375")
    assert (found.status_code, found.json()["code"]) == (409, "server.key")
    assert spent(app) == before


def test_keys_are_the_askers_own(client: Inside, made: Made) -> None:
    first = asked(client, made, "mine", "0.0625")
    other = asked(client, made, "mine", "0.0625", who="bob")
    assert other.status_code == 200
    assert other.json()["recalled"] == first.json()["receipt"]["when"]  # the stored answer, which bob's share paid for
    assert other.json()["table"] == first.json()["table"]


def test_forms_are_of_one_answer(app: FastAPI, client: Inside, made: Made) -> None:
    csv = asked(client, made, "forms", "0.75", Accept="text/csv")
    before = spent(app)
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    rows = asked(client, made, "forms", "0.75").json()["table"]["rows"]
    arrow = asked(client, made, "forms", "0.75", Accept="application/vnd.apache.arrow.stream")
    with pa.ipc.open_stream(io.BytesIO(arrow.content)) as stream:
        table = stream.read_all()
    assert table["n"].to_pylist() == [row["n"] for row in rows]
    assert [float(line.split(",")[1]) for line in csv.text.splitlines()[1:]] == [row["n"] for row in rows]
    assert asked(client, made, "forms", "0.75", Accept="text/csv").content == csv.content
    assert asked(client, made, "forms", "0.75", Accept="application/vnd.apache.arrow.stream").content == arrow.content
    assert spent(app) == before


def test_a_refusal_frees_its_key(app: FastAPI, client: Inside, made: Made) -> None:
    before = spent(app)
    found = asked(client, made, "poor", "1000")
    assert (found.status_code, found.json()["code"]) == (402, "budget.exceeded")
    assert spent(app) == before
    assert asked(client, made, "poor", "0.125").status_code == 200


def test_a_share_binds(client: Inside, made: Made) -> None:
    from sfumato.server.state import State
    from sfumato.server.tokens import made as token

    state = State(made.config.tokens)
    header = {"Authorization": f"Bearer {token(state, name='poor', role='analyst', datasets=['visits'])}", "Idempotency-Key": "share"}
    state.close()
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 50", "epsilon": "0.375"}
    assert client.post(RELEASE, json=body, headers=header).status_code == 200
    found = client.post(RELEASE, json={**body, "epsilon": "0.25"}, headers={**header, "Idempotency-Key": "share-2"})
    assert (found.status_code, found.json()["place"]) == (402, "visits / poor")


def test_a_question_that_is_no_question(client: Inside, made: Made) -> None:
    assert asked(client, made, "raw", sql="SELECT age FROM visits").json()["code"] == "sql.raw-rows"
    assert asked(client, made, "explain", sql="EXPLAIN PRIVACY " + SQL).json()["code"] == "server.explain"
    for keys in ({}, {"Idempotency-Key": ""}, {"Idempotency-Key": "a b"}, {"Idempotency-Key": "a" * 65}):
        found = client.post(RELEASE, json={"sql": SQL, "epsilon": 1}, headers={**made.header("ada"), **keys})
        assert (found.status_code, found.json()["place"]) == (422, "Idempotency-Key")


def begun(app: FastAPI, key: str, body: dict[str, Any], until: float) -> Request:
    """A request that some process began, and has until a moment to answer."""
    import hashlib

    from sfumato.server.questions import Question

    request = Request("visits", "ada", key)
    digest = hashlib.sha256(Question(**body).canonical()).hexdigest()
    assert app.state.curator.state.begin(request, digest, until)
    return request


def test_what_another_process_answers_is_waited_for(app: FastAPI, client: Inside, made: Made) -> None:
    begun(app, "elsewhere", {"sql": SQL, "epsilon": "0.25"}, time.time() + 60)
    found = asked(client, made, "elsewhere")
    assert (found.status_code, found.json()["code"], found.headers["retry-after"]) == (409, "server.running", "1")


def test_a_lost_request_with_a_stored_answer_gets_it(app: FastAPI, client: Inside, made: Made) -> None:
    """The process ended after the ledger stored the answer and before a byte of it was sent."""
    stored = asked(client, made, "before-the-end", "0.875")
    before = spent(app)
    begun(app, "ended", {"sql": SQL, "epsilon": "0.875"}, time.time() - 1)
    found = asked(client, made, "ended", "0.875")
    assert found.json()["table"] == stored.json()["table"]
    assert asked(client, made, "ended", "0.875").content == found.content
    assert spent(app) == before


def test_a_lost_request_without_an_answer_needs_a_new_key(app: FastAPI, client: Inside, made: Made) -> None:
    before = spent(app)
    begun(app, "gone", {"sql": SQL, "epsilon": "0.9375"}, time.time() - 1)
    for _ in range(2):
        found = asked(client, made, "gone", "0.9375")
        assert (found.status_code, found.json()["code"]) == (410, "server.lost")
    assert spent(app) == before
    assert asked(client, made, "gone-2", "0.9375").status_code == 200


async def stopped_once_charged(worker: Worker) -> Said:
    """What a worker says; one that says that it has charged is stopped there, as if the data took too long."""
    said = await heard(worker)
    if said.kind == "charged" and worker._process is not None:
        os.kill(worker._process.pid, signal.SIGSTOP)
    return said


heard = Worker._heard


def test_an_overrun_keeps_its_charge_and_is_counted_and_limited(app: FastAPI, client: Inside, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    for turn in range(2):
        sql, before = f"SELECT COUNT(*) AS n FROM visits WHERE age > {turn}", spent(app)
        with monkeypatch.context() as patch:
            patch.setattr(Worker, "_heard", stopped_once_charged)
            found = asked(client, made, f"late-{turn}", who="bob", sql=sql)
        assert (found.status_code, found.json()["code"]) == (503, "server.deadline")
        assert asked(client, made, f"late-{turn}", who="bob", sql=sql).json()["code"] == "server.lost"
        assert spent(app) - before == Fraction(1, 4)
    assert client.get("/api/datasets/visits/overruns", headers=made.header("owner")).json() == {"count": 2, "by": {"bob": 2}}
    found = asked(client, made, "late-3", who="bob")
    assert (found.status_code, found.json()["code"]) == (403, "server.overruns")
    assert asked(client, made, "not-late", who="ada", sql="SELECT COUNT(*) AS n FROM visits WHERE age > 60").status_code == 200


def test_replies_do_not_leave_before_the_end_of_their_class(client: Inside, made: Made) -> None:
    begun = time.monotonic()
    asked(client, made, "class", sql="SELECT COUNT(*) AS n FROM visits WHERE age > 44")
    assert time.monotonic() - begun >= 0.35


def test_what_was_learned_is_shown_to_who_paid(tmp_path: Path) -> None:
    found = service(tmp_path, deadline="[2]", budget="100")
    found.path.write_text(found.path.read_text(encoding="utf-8").replace("max_rows = 4\n", ""), encoding="utf-8")
    body = {"sql": SQL, "epsilon": "0.5"}
    with Inside(create(found.path)) as client:

        def plan(who: str) -> Any:
            return client.post("/api/datasets/visits/plan", json=body, headers=found.header(who)).json()

        def cost(who: str, key: str) -> Any:
            return client.post(RELEASE, json=body, headers={**found.header(who), "Idempotency-Key": key})

        def share(who: str) -> Any:
            return client.get("/api/datasets/visits/budget", headers=found.header(who)).json()["share"]["spent"]["epsilon"]

        unknown = plan("ada")
        assert unknown["error"]["n"] == "after learning"
        assert cost("ada", "1").status_code == 200
        assert isinstance(plan("ada")["error"]["n"], float)
        other = plan("bob")
        assert other["error"] == unknown["error"]
        assert not any("(learned" in line for line in other["explained"])
        assert cost("bob", "1").status_code == 200
        assert share("bob") == other["cost"]["epsilon"] == share("ada")
        assert isinstance(plan("bob")["error"]["n"], float)
