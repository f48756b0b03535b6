"""Running the service: uvicorn with one or several processes, no access log, limits on what a connection may take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .app import PATH, create
from .config import Config, load

CONNECTIONS = 1000
GRACE = 30


def options(config: Config) -> dict[str, Any]:
    """What uvicorn is told."""
    from .protocol import Protocol

    tls = {"ssl_certfile": config.tls_cert, "ssl_keyfile": config.tls_key} if config.tls_cert else {}
    return {
        "host": config.host,
        "port": config.port,
        "http": Protocol,
        "ws": "none",
        "loop": "asyncio",
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "date_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": GRACE,
        "limit_concurrency": CONNECTIONS,
        "h11_max_incomplete_event_size": 32 * 1024,
        **tls,
    }


def run(path: str | Path) -> None:
    """Serve what a file declares, until the process is told to end."""
    import uvicorn

    config = load(path)
    if config.workers == 1:
        uvicorn.run(create(config), **options(config))
        return
    os.environ[PATH] = str(Path(path).absolute())
    uvicorn.run("sfumato.server.app:from_environment", factory=True, workers=config.workers, **options(config))
