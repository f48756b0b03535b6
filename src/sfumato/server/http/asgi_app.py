"""The web application: `create(config)` returns a FastAPI app with the endpoints, the page, and the
limits around them.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ... import __version__
from ...errors import Failed, Refused
from ...tables.aggregates import KINDS
from .. import server_refusals as refusals
from ..config import Config, load
from ..postgres.wire_listener import listening
from ..retention import drop_old_hourly
from ..service import CuratorService
from ..workers.parent_watch import end_with_parent
from ..workers.processors import divide
from ..workers.shutdown import set_on_signal
from .openapi import document
from .problems import DEADLINE, INTERNAL, UNKNOWN, Problem, ProblemError, problem_of
from .request_limits import Buckets, Limits
from .routes import router
from .slow_clients import CONNECTIONS

STATIC = Path(__file__).parents[1] / "static"
PATH = "SFUMATO_SERVE"
"""The environment variable with the path of the configuration, for child processes."""
POSTGRES = "SFUMATO_SERVE_POSTGRES"
"""The environment variable with the port for PostgreSQL clients, if not the configuration's."""
SILENT: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""Turns off telemetry of newer FastAPI versions: a trace would quote questions."""
BROKEN = (OSError, EOFError, ValueError, RuntimeError)
"""Errors of a worker that does not start."""
ABOUT = (
    "Differentially private answers from protected data. Every answer is charged to a "
    "durable budget before any data is read."
)


def create(config: Config | str | Path) -> FastAPI:
    """Create the app of a configuration. Opens its datasets and ledger; workers start with the
    server, or at the first release.
    """
    loaded = config if isinstance(config, Config) else load(config)
    curator = CuratorService(loaded)
    CONNECTIONS.most = loaded.connections_per_address

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with suppress(
            *BROKEN
            # a worker was killed while it started: it starts again on demand, and the service runs
        ):
            await curator.pool.start()
        tidying = asyncio.create_task(drop_old_hourly(loaded))
        try:
            with set_on_signal(curator.ending):
                async with listening(curator, app.state.buckets):
                    yield
        finally:
            tidying.cancel()
            await asyncio.gather(tidying, return_exceptions=True)
            await curator.pool.stop()
            curator.close()

    app = FastAPI(
        title="sfumato",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        telemetry=SILENT,
    )
    app.state.curator = curator
    app.state.buckets = Buckets(loaded.token_rate)
    app.include_router(router)
    app.add_api_route("/", _page, methods=["GET"], include_in_schema=False)
    app.add_api_route(
        "/static/aggregates.js", _aggregates, methods=["GET"], include_in_schema=False
    )
    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # as FastAPI documents
    for kind, handler in _ENDINGS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(Limits, rate=loaded.address_rate)
    return app


def from_environment() -> FastAPI:
    """Create the app in a child process. The process ends with its parent, and uses only serving
    processors.
    """
    config, parent = load(os.environ[PATH]), multiprocessing.parent_process()
    if POSTGRES in os.environ:
        config = replace(config, postgres=int(os.environ[POSTGRES]))
    if parent is not None:
        end_with_parent(parent.pid)
        divide(config.workers)
    return create(config)


async def _page() -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _aggregates() -> Response:
    """Reply the list of aggregates as a module of the page."""
    kinds = KINDS.values()
    lists = {
        "AGGREGATES": [
            (call.typed or f"{call.text}(", call.about) for kind in kinds for call in kind.calls
        ],
        "COUNTS": [kind.name for kind in kinds if kind.counts],
        "RANKED": [kind.name for kind in kinds if kind.error_of == "rank"],
    }
    lines = (f"export const {name} = {json.dumps(value)};" for name, value in lists.items())
    return Response("\n".join(lines), media_type="text/javascript")


async def _stopped(_: Request, stopped: ProblemError) -> Response:
    return stopped.problem.response()


async def _refused(_: Request, refusal: Refused) -> Response:
    return problem_of(refusal).response()


async def _failed(*_: object) -> Response:
    return DEADLINE.response()


async def _http(_: Request, error: HTTPException) -> Response:
    """Reply to an unknown address or method."""
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        return Problem.of(refusals.METHOD_WRONG(allowed=allowed), {"Allow": allowed}).response()
    return (UNKNOWN if error.status_code == 404 else INTERNAL).response()


_ENDINGS: dict[type[Exception], Callable[..., Awaitable[Response]]] = {
    ProblemError: _stopped,
    Refused: _refused,
    Failed: _failed,
    HTTPException: _http,
}
