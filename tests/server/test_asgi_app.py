"""The application around its endpoints: addresses and methods that it does not know, the page, and
what is refused from within.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from sfumato.errors import Failed, Refused
from sfumato.server.http import asgi_app as module
from sfumato.server.http.asgi_app import PATH, create, from_environment
from sfumato.server.workers.worker_pool import Worker

from .inside import Inside
from .service import Deployment, service

pytestmark = pytest.mark.xdist_group("server-app")


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return service(tmp_path_factory.mktemp("app"))


@pytest.fixture(scope="module")
def client(deployment: Deployment) -> Iterator[Inside]:
    with Inside(create(deployment.path), workers=False) as inside:
        yield inside


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api",
        "/api/",
        "/api/me/",
        "/static/../app.py",
        "/static/nothing.js",
        "/static/%2e%2e/app.py",
        "/docs",
    ],
)
def test_no_such_address(client: Inside, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (
        404,
        "application/problem+json",
    )


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "POST", "QUERY"]
)
def test_no_such_method(client: Inside, method: str) -> None:
    response = client.request(method, "/api/health")
    assert (response.status_code, response.headers["allow"]) == (405, "GET")


def test_the_document_is_public(client: Inside) -> None:
    assert client.get("/openapi.json").json()["openapi"].startswith("3.")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refused("sql.raw-rows", "a", "b", "c"), "sql.raw-rows"),
        (Refused("ledger.io", "a", "b"), "server.busy"),
        (Failed(), "server.deadline"),
    ],
)
def test_what_is_raised_within_is_a_problem(
    client: Inside,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: str,
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("sfumato.server.ledger_views.budget", broken)
    assert (
        client.get("/api/datasets/visits/budget", headers=deployment.header("ada")).json()["code"]
        == code
    )


def test_what_breaks_within_is_one_problem(
    client: Inside, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.server.ledger_views.budget", lambda *_: 1 / 0)
    response = client.get("/api/datasets/visits/budget", headers=deployment.header("ada"))
    assert (response.status_code, response.json()["code"]) == (500, "server.internal")


def test_a_process_finds_its_configuration(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PATH, str(deployment.path))
    app = from_environment()
    assert set(app.state.curator.served) == {"visits", "clinic"}
    app.state.curator.close()


def test_nothing_is_told_to_third_parties() -> None:
    assert set(module.SILENT.values()) == {False}


def test_a_worker_that_does_not_begin_does_not_end_the_service(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody killed it as it started: uvicorn would take a failure for one that comes back, and
    stop all processes.
    """

    async def killed(_: Worker) -> None:
        raise asyncio.IncompleteReadError(b"", None)

    monkeypatch.setattr(Worker, "ready", killed)
    with Inside(create(deployment.path)) as inside:
        assert inside.get("/api/health").status_code == 200
