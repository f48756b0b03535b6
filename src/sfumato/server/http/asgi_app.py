"""The application: `create(config)` is a FastAPI app with the endpoints, the page, and the limits
around them.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ... import __version__
from ...errors import Failed, Refused
from ..config import Config, load
from ..retention import tidied
from ..service import Curator
from ..workers.parent_watch import end_with_parent
from ..workers.processors import divide
from ..workers.shutdown import told
from .openapi import document
from .problems import DEADLINE, INTERNAL, UNKNOWN, Problem, Stopped, problem_of
from .request_limits import Buckets, Limits
from .routes import router
from .slow_clients import CONNECTIONS

STATIC = Path(__file__).parents[1] / "static"
PATH = "SFUMATO_SERVE"
"""The environment variable that names the configuration, for processes that a server starts."""
SILENT: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""Of what newer versions of FastAPI could tell others: nothing. A trace would quote questions."""
BROKEN = (OSError, EOFError, ValueError, RuntimeError)
"""What comes of a worker that does not begin."""
ABOUT = (
    "Differentially private answers from protected data. Every answer is charged to a "
    "durable budget before any data is read."
)


def create(config: Config | str | Path) -> FastAPI:
    """The service that a configuration declares. Opens its datasets and its ledger; workers start
    with the server, or at the first release.
    """
    known = config if isinstance(config, Config) else load(config)
    curator = Curator(known)
    CONNECTIONS.most = known.connections_per_address

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with suppress(
            *BROKEN
            # somebody ended a worker while it began: it is started again when it is needed, and
            # that is
            # no reason to end the service
        ):
            await curator.pool.start()
        tidying = asyncio.create_task(tidied(known))
        try:
            with told(curator.ending):
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
    app.state.buckets = Buckets(known.token_rate)
    app.include_router(router)
    app.add_api_route("/", _page, methods=["GET"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    for kind, handler in _ENDINGS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(Limits, rate=known.address_rate)
    return app


def from_environment() -> FastAPI:
    """The same, in a process that a server started. It ends with the server, and keeps to the
    processors that serve.
    """
    config, parent = load(os.environ[PATH]), multiprocessing.parent_process()
    if parent is not None:
        end_with_parent(parent.pid)
        divide(config.workers)
    return create(config)


async def _page() -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _stopped(_: Request, stopped: Any) -> Response:
    found: Response = stopped.problem.response()
    return found


async def _refused(_: Request, refusal: Any) -> Response:
    return problem_of(refusal).response()


async def _failed(*_: Any) -> Response:
    return DEADLINE.response()


async def _http(_: Request, error: Any) -> Response:
    """No such address, or no such method there."""
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        return Problem(
            "server.method",
            "the method",
            "this address does not know it",
            allowed,
            {"Allow": allowed},
        ).response()
    return (UNKNOWN if error.status_code == 404 else INTERNAL).response()


_ENDINGS: dict[Any, Any] = {
    Stopped: _stopped,
    Refused: _refused,
    Failed: _failed,
    HTTPException: _http,
}
