"""What is old is let go, and whoever comes back is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from sfumato.errors import Refused
from sfumato.server import retention
from sfumato.server.config import Config, load
from sfumato.server.http.asgi_app import create
from sfumato.server.request_store import RequestKey, RequestStore
from sfumato.server.retention import drop_old, drop_old_hourly
from sfumato.server.tokens import DAY
from sfumato.server.workers.worker_pool import Pool

from .inside import Inside, prompt
from .service import SQL, Deployment, service

pytestmark = pytest.mark.xdist_group("server-retention")
RELEASE = "/api/datasets/visits/release"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return service(tmp_path).config


def filled(config: Config, count: int, until: float) -> list[RequestKey]:
    """Requests that were answered, and may have run until a moment."""
    state = RequestStore(config.tokens)
    requests = [RequestKey("visits", "ada", f"{until}-{turn}") for turn in range(count)]
    for request in requests:
        state.begin(request, "digest", until)
        state.store(request, {"a": request.key.encode()})
    state.close()
    return requests


def keys(config: Config) -> set[str]:
    state = RequestStore(config.tokens)
    stored_keys = {key for (key,) in state._read("SELECT key FROM request")}
    state.close()
    return stored_keys


def test_what_is_older_than_the_configuration_says_goes(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    monkeypatch.setattr(retention, "PAUSE", 0.0)
    now = time.time()
    old, young = filled(config, 10, now - 91 * DAY), filled(config, 2, now - 89 * DAY)
    assert asyncio.run(drop_old(config)) == 10
    assert keys(config) == {request.key for request in young}
    assert asyncio.run(drop_old(config)) == 0
    assert asyncio.run(drop_old(replace(config, keep_days=1))) == 2
    assert {request.key for request in old}.isdisjoint(keys(config))


def test_now_and_from_time_to_time(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "EVERY", 0.01)

    async def course() -> list[bool]:
        task, emptied = asyncio.create_task(drop_old_hourly(config)), []
        for turn in range(3):
            filled(config, 1, turn + 1.0)
            end = time.monotonic() + 60
            while keys(config) and time.monotonic() < end:
                await asyncio.sleep(0.005)
            emptied.append(not keys(config))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return emptied

    assert asyncio.run(course()) == [True] * 3


def test_trouble_is_tried_again(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "EVERY", 0.0)
    calls: list[int] = []

    async def course() -> None:
        async def broken(_: Config) -> int:
            calls.append(0)
            if len(calls) == 3:
                raise asyncio.CancelledError
            raise Refused(
                "server.storage", "the records", "they cannot be written", "see to the disk"
            )

        monkeypatch.setattr(retention, "drop_old", broken)
        with pytest.raises(asyncio.CancelledError):
            await drop_old_hourly(config)

    asyncio.run(course())
    assert len(calls) == 3


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return service(tmp_path_factory.mktemp("retention"), budget="100")


@pytest.fixture(scope="module")
def app(deployment: Deployment) -> FastAPI:
    return create(deployment.path)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[Inside]:
    with prompt(), Inside(app) as inside:
        yield inside


def ask(client: Inside, deployment: Deployment, key: str, epsilon: str = "0.25") -> Any:
    return client.post(
        RELEASE,
        json={"sql": SQL, "epsilon": epsilon},
        headers={**deployment.header("ada"), "Idempotency-Key": key},
    )


def spent(app: FastAPI) -> Fraction:
    epsilon: Fraction = app.state.curator.served["visits"].ledger.spent.parameters["epsilon"]
    return epsilon


def aged(app: FastAPI, deployment: Deployment) -> None:
    """Make all requests older than the retention time, and drop them."""
    with app.state.curator.state._writing() as run:
        run("UPDATE request SET until = until - ?, visible = visible - ?", (100 * DAY, 100 * DAY))
    asyncio.run(drop_old(load(deployment.path)))


def test_an_old_key_is_void_and_says_so(
    app: FastAPI, client: Inside, deployment: Deployment
) -> None:
    """Not a second look, and not a second charge: a new key gives the answer that was paid for."""
    first = ask(client, deployment, "old")
    before = spent(app)
    aged(app, deployment)
    for epsilon in ("0.25", "0.5"):  # whatever is asked under it
        reply = ask(client, deployment, "old", epsilon)
        assert (reply.status_code, reply.json()["code"]) == (410, "server.void")
        assert "nothing was charged" in reply.json()["reason"]
    again = ask(client, deployment, "new")
    assert again.json()["table"] == first.json()["table"]
    assert again.json()["recalled"] == first.json()["receipt"]["when"]
    assert spent(app) == before


def test_a_lost_key_stays_void(app: FastAPI, client: Inside, deployment: Deployment) -> None:
    """What was charged and never answered: a new charge is the asker's to decide."""
    state, request = app.state.curator.state, RequestKey("visits", "ada", "lost")
    state.begin(request, "digest", time.time())
    state.mark_lost(request, overran=True)
    aged(app, deployment)
    before = spent(app)
    assert ask(client, deployment, "lost", "0.375").json()["code"] == "server.void"
    assert spent(app) == before
    assert state.overruns("visits") == {"ada": 1}
    assert ask(client, deployment, "lost-2", "0.375").status_code == 200
    assert spent(app) == before + Fraction(3, 8)


def test_a_service_lets_go_when_it_starts(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(_: Pool) -> None: ...

    monkeypatch.setattr(Pool, "start", start)  # nobody asks it anything
    filled(deployment.config, 3, 5.0)
    with Inside(create(deployment.path)):
        end = time.monotonic() + 60
        while (
            any(key.startswith("5.0") for key in keys(deployment.config)) and time.monotonic() < end
        ):
            time.sleep(0.02)
    assert not any(key.startswith("5.0") for key in keys(deployment.config))
