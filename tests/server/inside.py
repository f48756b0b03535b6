"""An application in this process, with its own event loop, asked without a socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from sfumato.server.workers import deadlines


class Inside:
    """A client of an application that runs while the client is open."""

    def __init__(self, app: FastAPI, *, workers: bool = True) -> None:
        self.app = app
        self._workers = workers  # without, nothing can be released, and less has to be started
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Inside:
        self._thread.start()
        self._life = self.app.router.lifespan_context(self.app)
        if self._workers:
            self.run(self._life.__aenter__())
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, raise_app_exceptions=True),
            base_url="http://inside",
            timeout=60,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._client.aclose())
        if self._workers:
            self.run(self._life.__aexit__(None, None, None))
        else:
            self.app.state.curator.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)

    def get(self, path: str, **how: Any) -> httpx.Response:
        response: httpx.Response = self.run(self._client.get(path, **how))
        return response

    def post(self, path: str, **how: Any) -> httpx.Response:
        response: httpx.Response = self.run(self._client.post(path, **how))
        return response

    def request(self, method: str, path: str, **how: Any) -> httpx.Response:
        response: httpx.Response = self.run(self._client.request(method, path, **how))
        return response


@contextmanager
def prompt() -> Iterator[None]:
    """Meanwhile replies do not wait for their deadlines, which may then be long: so tests are
    short, and a slow machine changes nothing.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.server.releases.reply_time", lambda _: 0.0)
        patch.setattr("sfumato.server.releases.storing_time", lambda _: None)
        yield


@contextmanager
def of_class(seconds: float) -> Iterator[None]:
    """What is planned meanwhile is of this class, and replies wait for its end; a slot does not
    rest after an overrun.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.server.plan_views.deadline_class", lambda *_, **__: seconds)
        for name in ("reply_time", "storing_time"):
            patch.setattr(f"sfumato.server.releases.{name}", getattr(deadlines, name))
        patch.setattr("sfumato.server.workers.worker_pool.REST", 0.0)
        yield
