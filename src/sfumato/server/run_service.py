"""Run the service: uvicorn with one or several processes, no access log, and limits on connections.

The starting process checks everything once before it opens the port, so that child processes do not
fail again and again.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from . import server_refusals as refusals
from .config import Config, load
from .http.asgi_app import PATH, POSTGRES, create
from .request_store import RequestStore
from .service import CuratorService
from .workers.processors import divide

UvicornOptions = dict[str, Any]  # keyword arguments of `uvicorn.run`
CONNECTIONS = 1000
GRACE = 30


def options(config: Config) -> UvicornOptions:
    """Return the options for uvicorn."""
    from .http.slow_clients import TimedProtocol

    tls = (
        {"ssl_certfile": config.tls_cert, "ssl_keyfile": config.tls_key} if config.tls_cert else {}
    )
    return {
        "host": config.host,
        "port": config.port,
        "http": TimedProtocol,
        "ws": "none",
        "loop": "sfumato.server.http.event_loop:Loop",
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


def check_ready(config: Config) -> None:
    """Refuse an unusable certificate, a port that is taken, or a records file that is not ours."""
    _check_port(config.host, config.port)
    if config.postgres is not None:
        if config.postgres == config.port:
            raise refusals.PORT_SHARED(port=config.port, free=5433)
        _check_port(config.host, config.postgres)
    if config.tls_cert is not None and config.tls_key is not None:
        _certificate(config.tls_cert, config.tls_key)
    state = RequestStore(config.tokens)
    try:
        state.open()
    finally:
        state.close()


def run(
    path: str | Path,
    announce: Callable[[], object] = lambda: None,
    *,
    postgres: int | None = None,
) -> None:
    """Serve the configuration in a file until a signal stops the process, with the port for
    PostgreSQL clients in place of the file's. Call `announce` when everything that can be checked
    is right, just before the port opens.
    """
    import uvicorn

    config = load(path)
    if postgres is not None:
        config = replace(config, postgres=postgres)
    check_ready(config)
    # processes that are started from here import nothing from the working directory
    os.environ["PYTHONSAFEPATH"] = "1"
    if config.workers == 1:
        divide(1)
        app = create(config)
        announce()
        uvicorn.run(app, **options(config))
        return
    CuratorService(config).close()  # check once what every child process will open
    announce()
    os.environ[PATH] = str(Path(path).absolute())
    if postgres is not None:
        os.environ[POSTGRES] = str(postgres)
    uvicorn.run(
        "sfumato.server.http.asgi_app:from_environment",
        factory=True,
        workers=config.workers,
        **options(config),
    )


def _check_port(host: str, port: int) -> None:
    """Refuse an address that cannot be listened at; leave it free again."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            free = port + 1 if 1024 <= port < 65535 else 8000
            raise refusals.PORT_TAKEN(host=host, port=port, free=free) from None


def _certificate(cert: str, key: str) -> None:
    """Refuse a certificate that does not match its key. OpenSSL's own messages do not help, and it
    would ask for a passphrase.
    """
    for name, path in (("tls_cert", cert), ("tls_key", key)):
        try:
            Path(path).read_bytes()
        except OSError:
            raise refusals.TLS_FILE_UNREADABLE(name=name, file=Path(path).name) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(cert)
    except (ssl.SSLError, OSError, ValueError):
        raise refusals.CERTIFICATE_NOT_PEM(file=Path(cert).name) from None

    def locked() -> NoReturn:
        raise refusals.KEY_WITH_PASSPHRASE(file=Path(key).name)

    try:
        context.load_cert_chain(cert, key, password=locked)
    except ssl.SSLError as error:
        is_mismatch = error.reason == "KEY_VALUES_MISMATCH"
        entry = refusals.KEY_OF_OTHER_CERTIFICATE if is_mismatch else refusals.KEY_NOT_PEM
        raise entry(file=Path(key).name) from None
