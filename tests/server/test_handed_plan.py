"""A release is planned once: the service plans it, and the worker releases that plan."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.mechanisms.shared.stored_mechanism import record
from sfumato.release import question_key
from sfumato.server.config import load
from sfumato.server.datasets import protect_dataset
from sfumato.server.http.asgi_app import create
from sfumato.server.http.encode_replies import JSON
from sfumato.server.workers import worker_pool
from sfumato.server.workers.busy_work import Fillers
from sfumato.server.workers.handed_plan import pack, unpack
from sfumato.server.workers.worker import answer_question
from sfumato.session.request import Request

from .inside import Inside, prompt
from .service import SQL, Deployment, service

COUNTING = """
from pathlib import Path
from sfumato.session.request import Request
from sfumato.server.workers import worker

plan = Request._plan
def counted(self, declared):
    if self.table != "warm":
        with Path({path!r}).open("a") as file:
            file.write("planned\\n")
    return plan(self, declared)
Request._plan = counted
worker.main()
"""
QUESTIONS = {
    "count": {"sql": SQL, "epsilon": "0.5"},
    "within": {"sql": "SELECT COUNT(*) AS n FROM visits", "within": "20"},
    "computed": {
        "sql": (
            "SELECT city, SUM(spend) / COUNT(*) AS r, MEDIAN(age) AS q FROM visits "
            "WHERE age BETWEEN 20 AND 60 AND LOWER(note) = 'seen' GROUP BY city ORDER BY r LIMIT 2"
        ),
        "epsilon": "0.5",
    },
    "groupings": {
        "sql": (
            "SELECT city, GROUPING(city) AS g, COUNT(*) AS n, AVG(spend) AS m FROM visits "
            "GROUP BY CUBE (city) ORDER BY city"
        ),
        "epsilon": "0.5",
    },
    "private keys": {
        "sql": "SELECT note, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY note",
        "epsilon": "0.5",
        "delta": "1e-6",
    },
}


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return service(
        tmp_path_factory.mktemp("handed"),
        budget='{ notion = "Approx", epsilon = "100", delta = "0.001" }',
    )


@pytest.fixture
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each plan that the service or its worker makes."""
    path = tmp_path / "plans"
    path.touch()
    plan = Request._plan

    def counted(self: Request, declared: Any) -> Any:
        with path.open("a") as file:
            file.write("planned\n")
        return plan(self, declared)

    monkeypatch.setattr(Request, "_plan", counted)
    code = COUNTING.format(path=str(path))
    monkeypatch.setattr(worker_pool, "command", lambda: (sys.executable, "-P", "-c", code))
    return path


def count(plans: Path) -> int:
    return len(plans.read_text().splitlines())


def test_a_release_over_http_is_planned_once(deployment: Deployment, plans: Path) -> None:
    with prompt(), Inside(create(deployment.path)) as client:

        def ask(what: str, question: dict[str, str], key: str) -> None:
            headers = {**deployment.header("ada"), "Idempotency-Key": key}
            reply = client.post(f"/api/datasets/visits/{what}", json=question, headers=headers)
            assert reply.status_code == 200, reply.text

        for place, question in enumerate(QUESTIONS.values()):
            before = count(plans)
            ask("release", question, f"first-{place}")
            assert count(plans) == before + 1
            ask("plan", question, "")
            ask("release", question, f"again-{place}")
            assert count(plans) == before + 1  # the service still has the plan


@pytest.fixture(scope="module")
def table(deployment: Deployment) -> Iterator[Any]:
    with protect_dataset(deployment.config.datasets["visits"]) as visits:
        visits.ledger.allow("eve", visits.budget)
        yield visits


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_handed_plan_is_the_plan(table: Any, name: str) -> None:
    how: dict[str, Any] = dict(QUESTIONS[name])
    plan = table.plan(how.pop("sql"), **how)
    fresh = pack(plan, table.state, table.state.declared)
    assert len(plan.statements) >= 1
    assert pack(plan, table.state, table.state.declared) == fresh  # statements do not cross
    handed = unpack(fresh, table.state)
    assert handed is not None
    assert (handed.source, handed.query.rows.curator) == (table._source, table)
    assert question_key(handed) == question_key(plan)
    assert record(handed.mechanism) == record(plan.mechanism)
    assert (handed.explain(), handed.error(), handed.kinds) == (
        plan.explain(),
        plan.error(),
        plan.kinds,
    )


def test_a_plan_of_several_tables_is_handed_over() -> None:
    tables = {
        "patients": {"id": [1, 2, 3], "town": ["a", "b", "a"]},
        "visits": {"patient": [1, 1, 2], "ward": ["n", "s", "n"]},
    }
    with sf.protect(
        {name: pa.table(columns) for name, columns in tables.items()},
        name="clinic",
        unit="patients.id",
        links={"visits.patient": "patients.id"},
        public={"wards": pa.table({"ward": ["n", "s"], "floor": [1, 2]})},
        max_rows={"patients": 1, "visits": 2},
        budget=1,
    ) as clinic:
        plan = clinic.plan(
            "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.id "
            "JOIN wards ON visits.ward = wards.ward WHERE floor = 1",
            epsilon=1,
        )
        handed = unpack(pack(plan, clinic.state, clinic.state.declared), clinic.state)
        assert handed is not None
        assert handed.sql == plan.sql
        assert question_key(handed) == question_key(plan)


CONSTANTS = {
    "bool": "TRUE",
    "int64": "5",
    "float64": "0.5",
    "decimal(12, 2)": "DECIMAL '0.50'",
    "string": "'Roma'",
    "date": "DATE '2026-01-31'",
    "timestamp": "TIMESTAMP '2026-01-31 23:59:59'",
    "timestamp with time zone": "TIMESTAMPTZ '2026-01-31 23:59:59+01'",
    "uuid": "UUID '00000000-0000-0000-0000-000000000007'",
}


@pytest.mark.parametrize(("kind", "constant"), CONSTANTS.items(), ids=list(CONSTANTS))
def test_constants_of_every_type_are_handed_over(kind: str, constant: str) -> None:
    """As a constant of the question, and as a public key of the table."""
    values = {
        "bool": pa.array([True]),
        "int64": pa.array([5]),
        "float64": pa.array([0.5]),
        "decimal(12, 2)": pa.array([Decimal("0.50")], pa.decimal128(12, 2)),
        "string": pa.array(["Roma"]),
        "date": pa.array([date(2026, 1, 31)]),
        "timestamp": pa.array([datetime(2026, 1, 31)], pa.timestamp("us")),
        "timestamp with time zone": pa.array(
            [datetime(2026, 1, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")
        ),
        "uuid": pa.array([UUID(int=7).bytes], pa.uuid()),
    }
    keys = {"x": values[kind].to_pylist()}
    with sf.protect(pa.table({"x": values[kind]}), name="t", budget=1, keys=keys) as table:
        for text in (
            f"SELECT COUNT(*) AS n FROM t WHERE x = {constant}",
            "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
        ):
            plan = table.plan(text, epsilon=1)
            handed = unpack(pack(plan, table.state, table.state.declared), table.state)
            assert handed is not None
            assert question_key(handed) == question_key(plan)


def test_the_worker_releases_the_handed_plan(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = table.plan(SQL, epsilon="0.25")
    packed = pack(plan, table.state, table.state.declared)
    monkeypatch.setattr(Request, "_plan", lambda *_: pytest.fail("it was planned again"))
    head = answer_question({"visits": table}, build_message("eve", packed)).partition(b"\n")[0]
    assert json.loads(head)["kind"] == "answer"


def test_a_plan_without_what_was_learned_is_not_used(tmp_path: Path) -> None:
    """Neither for who has learned it, nor for who has not paid for it yet."""
    deployment = service(tmp_path, budget="100")
    text = deployment.path.read_text(encoding="utf-8").replace("max_rows = 4\n", "")
    deployment.path.write_text(text, encoding="utf-8")
    with protect_dataset(load(deployment.path).datasets["visits"]) as visits:
        for who in ("ada", "bob"):
            visits.ledger.allow(who, visits.budget)
        before, state = visits.state.declared, visits.state
        answer_question({"visits": visits}, build_message("ada"))  # learns `max_rows`
        assert state.lessons
        plan = visits.plan(SQL, epsilon="0.25")
        assert unpack(pack(plan, state, state.declared), state) is not None
        assert unpack(pack(plan, state, before), state) is None
        spent = visits.ledger.account("bob").spent
        packed = pack(visits.plan(SQL, epsilon="0.125"), state, state.declared)
        answer_question({"visits": visits}, build_message("bob", packed, "0.125"))
        paid = visits.ledger.account("bob").spent[0] - spent[0]
        assert paid > 1 / 8  # the lesson, too


@pytest.mark.parametrize(
    "value", [os.system, Fillers, io.BytesIO(), print], ids=["system", "fillers", "bytes", "print"]
)
def test_a_worker_reads_nothing_but_plans(table: Any, value: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="a plan holds no"):
        unpack(pickle.dumps(({}, None, value)), table.state)


def build_message(who: str, packed: bytes | None = None, epsilon: str = "0.25") -> Any:
    return {
        "dataset": "visits",
        "who": who,
        "question": {"sql": SQL, "epsilon": epsilon},
        "plan": None if packed is None else base64.b64encode(packed).decode("ascii"),
        "media": JSON,
        "timeout": 30.0,
        "recall": False,
    }
