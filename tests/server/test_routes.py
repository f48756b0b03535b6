"""The endpoints, one by one: what they say is as the document says (`forms`), and refusals come in
their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from sfumato.server.http import response_models
from sfumato.server.http.asgi_app import create

from .inside import Inside, prompt
from .service import SQL, Deployment, service

pytestmark = pytest.mark.xdist_group("server-routes")
VISITS = "/api/datasets/visits"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return service(tmp_path_factory.mktemp("routes"))


@pytest.fixture(scope="module")
def client(deployment: Deployment) -> Iterator[Inside]:
    with prompt(), Inside(create(deployment.path)) as inside:
        yield inside


@pytest.fixture(scope="module")
def number(client: Inside, deployment: Deployment) -> int:
    reply = client.post(
        f"{VISITS}/release",
        json={"sql": SQL, "epsilon": 1},
        headers={**deployment.header("ada"), "Idempotency-Key": "first"},
    )
    receipt_number: int = reply.json()["receipt"]["number"]
    return receipt_number


@pytest.mark.parametrize(
    ("path", "who", "form"),
    [
        ("/api/health", None, response_models.HealthModel),
        ("/api/me", "ada", response_models.MeModel),
        ("/api/datasets", "ada", list[response_models.ShortModel]),
        (VISITS, "ada", response_models.SchemaModel),
        (f"{VISITS}/history", "ada", response_models.HistoryModel),
        (f"{VISITS}/history", "owner", response_models.HistoryModel),
        (f"{VISITS}/budget", "ada", response_models.BudgetModel),
        (f"{VISITS}/budget", "owner", response_models.BudgetModel),
        (f"{VISITS}/cards/NUMBER", "auditor", response_models.CardModel),
        (f"{VISITS}/verify", "auditor", response_models.VerifiedModel),
        (f"{VISITS}/overruns", "owner", response_models.OverrunsModel),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_replies_have_their_forms(
    client: Inside,
    deployment: Deployment,
    number: int,
    path: str,
    who: str | None,
    form: type[BaseModel],
) -> None:
    reply = client.get(path.replace("NUMBER", str(number)), headers=deployment.header(who))
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
    TypeAdapter(form).validate_json(reply.content, strict=True)


def test_questions_have_their_forms(client: Inside, deployment: Deployment) -> None:
    body = {"sql": SQL, "epsilon": "0.5"}
    plan = client.post(f"{VISITS}/plan", json=body, headers=deployment.header("ada"))
    response_models.PlanModel.model_validate_json(plan.content, strict=True)
    release = client.post(
        f"{VISITS}/release",
        json=body,
        headers={**deployment.header("ada"), "Idempotency-Key": "forms"},
    )
    response_models.ReleaseModel.model_validate_json(release.content, strict=True)
    problem = client.post(f"{VISITS}/plan", json={}, headers=deployment.header("ada"))
    response_models.ProblemModel.model_validate_json(problem.content, strict=True)


def test_who_am_i(client: Inside, deployment: Deployment) -> None:
    reply = client.get("/api/me", headers=deployment.header("ada")).json()
    assert (reply["name"], reply["role"], reply["datasets"]) == ("ada", "analyst", ["visits"])
    assert client.get("/api/me", headers=deployment.header("boss")).json()["datasets"] == [
        "visits",
        "clinic",
    ]


def test_refusals_come_in_their_order(client: Inside, deployment: Deployment) -> None:
    """Token, dataset, role, key, content type, body, question."""
    steps: list[tuple[dict[str, Any], int]] = [
        ({}, 401),
        ({"headers": deployment.header("auditor"), "path": "/api/datasets/clinic/release"}, 404),
        ({"headers": deployment.header("auditor")}, 403),
        ({"headers": deployment.header("ada")}, 422),
        (
            {
                "headers": {
                    **deployment.header("ada"),
                    "Idempotency-Key": "k",
                    "Accept": "image/png",
                }
            },
            406,
        ),
        ({"headers": {**deployment.header("ada"), "Idempotency-Key": "k"}}, 415),
        ({"headers": {**deployment.header("ada"), "Idempotency-Key": "k"}, "json": {}}, 422),
        (
            {
                "headers": {**deployment.header("ada"), "Idempotency-Key": "k"},
                "json": {"sql": "SELECT age FROM visits", "epsilon": 1},
            },
            400,
        ),
    ]
    assert [
        client.post(how.pop("path", f"{VISITS}/release"), **how).status_code for how, _ in steps
    ] == [status for _, status in steps]


def test_foreign_and_nonexistent_are_the_same_bytes(client: Inside, deployment: Deployment) -> None:
    replies = [
        client.get(f"/api/datasets/{name}/budget", headers=deployment.header("ada"))
        for name in ("clinic", "nothing", "visits%00", "..")
    ]
    assert {reply.content for reply in replies} == {replies[0].content}
    assert {tuple(reply.headers.multi_items()) for reply in replies} == {
        tuple(replies[0].headers.multi_items())
    }


@pytest.mark.parametrize(
    "query",
    [
        "after=-1",
        "after=x",
        "after=1&after=2",
        "limit=0",
        "limit=201",
        "limit=",
        "after=9" + "9" * 30,
    ],
)
def test_pages_are_asked_for_by_whole_numbers(
    client: Inside, deployment: Deployment, query: str
) -> None:
    assert (
        client.get(f"{VISITS}/history?{query}", headers=deployment.header("ada")).status_code == 422
    )


@pytest.mark.parametrize(
    "number", ["0", "x", "-1", "1.5", "999999999999", "9" * 40, "%F0%9F%92%A9"]
)
def test_a_card_that_is_not_there(client: Inside, deployment: Deployment, number: str) -> None:
    assert (
        client.get(f"{VISITS}/cards/{number}", headers=deployment.header("ada")).status_code == 404
    )


def test_a_card_as_a_page_runs_nothing(client: Inside, deployment: Deployment, number: int) -> None:
    page = client.get(
        f"{VISITS}/cards/{number}", headers={**deployment.header("ada"), "Accept": "text/html"}
    )
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith(
        "default-src 'none'; style-src 'sha256-"
    )
    assert "<script" not in page.text


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", "application/json"),
        ("text/csv;q=0.5, application/json;q=0.9", "application/json"),
        ("text/*", "text/csv; charset=utf-8"),
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.stream"),
        ("image/png, */*;q=0.1", "application/json"),
    ],
)
def test_forms_are_chosen_by_the_client(
    client: Inside, deployment: Deployment, number: int, accept: str, form: str
) -> None:
    headers = {**deployment.header("ada"), "Idempotency-Key": "first", "Accept": accept}
    assert (
        client.post(f"{VISITS}/release", json={"sql": SQL, "epsilon": 1}, headers=headers).headers[
            "content-type"
        ]
        == form
    )


@pytest.mark.parametrize("accept", ["image/png", "text/csv;q=0", "text/csv;q=x", "", ";;,"])
def test_no_form_fits(client: Inside, deployment: Deployment, accept: str) -> None:
    headers = {**deployment.header("ada"), "Idempotency-Key": "first", "Accept": accept}
    assert (
        client.post(
            f"{VISITS}/release", json={"sql": SQL, "epsilon": 1}, headers=headers
        ).status_code
        == 406
    )


def test_a_token_may_not_come_too_often(
    deployment: Deployment, client: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server.config import Rate
    from sfumato.server.http.request_limits import Buckets

    monkeypatch.setattr(client.app.state, "buckets", Buckets(Rate(per_second=0.001, burst=2)))
    assert [
        client.get("/api/me", headers=deployment.header(who)).status_code
        for who in ("ada", "ada", "ada", "bob")
    ] == [200, 200, 429, 200]
