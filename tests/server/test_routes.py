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
from .service import SQL, Made, service

pytestmark = pytest.mark.xdist_group("server-routes")
VISITS = "/api/datasets/visits"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return service(tmp_path_factory.mktemp("routes"))


@pytest.fixture(scope="module")
def client(made: Made) -> Iterator[Inside]:
    with prompt(), Inside(create(made.path)) as found:
        yield found


@pytest.fixture(scope="module")
def number(client: Inside, made: Made) -> int:
    reply = client.post(
        f"{VISITS}/release",
        json={"sql": SQL, "epsilon": 1},
        headers={**made.header("ada"), "Idempotency-Key": "first"},
    )
    found: int = reply.json()["receipt"]["number"]
    return found


@pytest.mark.parametrize(
    ("path", "who", "form"),
    [
        ("/api/health", None, response_models.Health),
        ("/api/me", "ada", response_models.Me),
        ("/api/datasets", "ada", list[response_models.Short]),
        (VISITS, "ada", response_models.Schema),
        (f"{VISITS}/history", "ada", response_models.History),
        (f"{VISITS}/history", "owner", response_models.History),
        (f"{VISITS}/budget", "ada", response_models.Budget),
        (f"{VISITS}/budget", "owner", response_models.Budget),
        (f"{VISITS}/cards/NUMBER", "auditor", response_models.Card),
        (f"{VISITS}/verify", "auditor", response_models.Verified),
        (f"{VISITS}/overruns", "owner", response_models.Overruns),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_replies_have_their_forms(
    client: Inside, made: Made, number: int, path: str, who: str | None, form: type[BaseModel]
) -> None:
    reply = client.get(path.replace("NUMBER", str(number)), headers=made.header(who))
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
    TypeAdapter(form).validate_json(reply.content, strict=True)


def test_questions_have_their_forms(client: Inside, made: Made) -> None:
    body = {"sql": SQL, "epsilon": "0.5"}
    plan = client.post(f"{VISITS}/plan", json=body, headers=made.header("ada"))
    response_models.Plan.model_validate_json(plan.content, strict=True)
    release = client.post(
        f"{VISITS}/release", json=body, headers={**made.header("ada"), "Idempotency-Key": "forms"}
    )
    response_models.Release.model_validate_json(release.content, strict=True)
    problem = client.post(f"{VISITS}/plan", json={}, headers=made.header("ada"))
    response_models.Problem.model_validate_json(problem.content, strict=True)


def test_who_am_i(client: Inside, made: Made) -> None:
    found = client.get("/api/me", headers=made.header("ada")).json()
    assert (found["name"], found["role"], found["datasets"]) == ("ada", "analyst", ["visits"])
    assert client.get("/api/me", headers=made.header("boss")).json()["datasets"] == [
        "visits",
        "clinic",
    ]


def test_refusals_come_in_their_order(client: Inside, made: Made) -> None:
    """Token, dataset, role, key, content type, body, question."""
    steps: list[tuple[dict[str, Any], int]] = [
        ({}, 401),
        ({"headers": made.header("auditor"), "path": "/api/datasets/clinic/release"}, 404),
        ({"headers": made.header("auditor")}, 403),
        ({"headers": made.header("ada")}, 422),
        ({"headers": {**made.header("ada"), "Idempotency-Key": "k", "Accept": "image/png"}}, 406),
        ({"headers": {**made.header("ada"), "Idempotency-Key": "k"}}, 415),
        ({"headers": {**made.header("ada"), "Idempotency-Key": "k"}, "json": {}}, 422),
        (
            {
                "headers": {**made.header("ada"), "Idempotency-Key": "k"},
                "json": {"sql": "SELECT age FROM visits", "epsilon": 1},
            },
            400,
        ),
    ]
    assert [
        client.post(how.pop("path", f"{VISITS}/release"), **how).status_code for how, _ in steps
    ] == [status for _, status in steps]


def test_foreign_and_nonexistent_are_the_same_bytes(client: Inside, made: Made) -> None:
    found = [
        client.get(f"/api/datasets/{name}/budget", headers=made.header("ada"))
        for name in ("clinic", "nothing", "visits%00", "..")
    ]
    assert {reply.content for reply in found} == {found[0].content}
    assert {tuple(reply.headers.multi_items()) for reply in found} == {
        tuple(found[0].headers.multi_items())
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
def test_pages_are_asked_for_by_whole_numbers(client: Inside, made: Made, query: str) -> None:
    assert client.get(f"{VISITS}/history?{query}", headers=made.header("ada")).status_code == 422


@pytest.mark.parametrize(
    "number", ["0", "x", "-1", "1.5", "999999999999", "9" * 40, "%F0%9F%92%A9"]
)
def test_a_card_that_is_not_there(client: Inside, made: Made, number: str) -> None:
    assert client.get(f"{VISITS}/cards/{number}", headers=made.header("ada")).status_code == 404


def test_a_card_as_a_page_runs_nothing(client: Inside, made: Made, number: int) -> None:
    page = client.get(
        f"{VISITS}/cards/{number}", headers={**made.header("ada"), "Accept": "text/html"}
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
    client: Inside, made: Made, number: int, accept: str, form: str
) -> None:
    headers = {**made.header("ada"), "Idempotency-Key": "first", "Accept": accept}
    assert (
        client.post(f"{VISITS}/release", json={"sql": SQL, "epsilon": 1}, headers=headers).headers[
            "content-type"
        ]
        == form
    )


@pytest.mark.parametrize("accept", ["image/png", "text/csv;q=0", "text/csv;q=x", "", ";;,"])
def test_no_form_fits(client: Inside, made: Made, accept: str) -> None:
    headers = {**made.header("ada"), "Idempotency-Key": "first", "Accept": accept}
    assert (
        client.post(
            f"{VISITS}/release", json={"sql": SQL, "epsilon": 1}, headers=headers
        ).status_code
        == 406
    )


def test_a_token_may_not_come_too_often(
    made: Made, client: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server.config import Rate
    from sfumato.server.http.request_limits import Buckets

    monkeypatch.setattr(client.app.state, "buckets", Buckets(Rate(per_second=0.001, burst=2)))
    assert [
        client.get("/api/me", headers=made.header(who)).status_code
        for who in ("ada", "ada", "ada", "bob")
    ] == [200, 200, 429, 200]
