"""Real clients of PostgreSQL: psycopg, and psql of the wheel that brings a server."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg

from ..service import Running

SPEC = find_spec("pgserver")
assert SPEC is not None
assert SPEC.origin is not None
PSQL = Path(SPEC.origin).parent / "pginstall" / "bin" / "psql"


def connect(
    service: Running, who: str, *, token: str | None = None, **how: str | bool
) -> psycopg.Connection[tuple[object, ...]]:
    """Connect as the holder of a token."""
    arguments = {"dbname": "visits", "user": who, "autocommit": True, **how}
    return psycopg.connect(
        host="127.0.0.1",
        port=service.postgres,
        password=service.deployment.tokens[who] if token is None else token,
        **arguments,  # type: ignore[arg-type]  # of several types
    )


def psql(
    service: Running, *commands: str, who: str = "ada", database: str = "visits", epsilon: str = "1"
) -> subprocess.CompletedProcess[str]:
    """Run psql with commands; each is sent by itself."""
    sent = [argument for command in commands for argument in ("-c", command)]
    return subprocess.run(
        [PSQL, "-X", "-h", "127.0.0.1", "-p", str(service.postgres), "-U", who, database, *sent],
        env={
            "PGPASSWORD": service.deployment.tokens[who],
            "PGOPTIONS": f"-c sfumato.epsilon={epsilon}",
            "LC_ALL": "C.UTF-8",
            "PAGER": "cat",
            "HOME": "/nonexistent",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
