"""A real PostgreSQL server for tests: from the `pgserver` wheel, on a socket in a short path, with
nothing on the network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from .books import SHARED_MEMORY

USER = "pgserver"  # PostgreSQL does not run as root
BECOME = """
import os, pwd, sys
user = pwd.getpwnam(sys.argv[1])
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Runs a program as another user. `subprocess` with `user=` would fork, and a fork of a test
process needs as much memory as the process itself: on a small machine the kernel refuses that.
"""


class PostgresServer:
    """A server that may be stopped the hard way, and started again."""

    def __init__(
        self, folder: Path, *, primary: PostgresServer | None = None, **settings: Any
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # its module asks where a runtime folder is, and complains of the answer
            from pgserver._commands import POSTGRES_BIN_PATH
            from pgserver.utils import ensure_prefix_permissions, ensure_user_exists
        self.folder, self.bin, self.settings, self._made = folder, POSTGRES_BIN_PATH, settings, 0
        self._as: tuple[str, ...] = ()
        if os.geteuid() == 0:
            ensure_user_exists(USER)
            ensure_prefix_permissions(POSTGRES_BIN_PATH)
            shutil.chown(folder, USER, USER)
            self._as = (sys.executable, "-I", "-S", "-c", BECOME, USER)
        if primary is not None:
            self._do(
                "pg_basebackup", "-h", str(primary.folder), "-U", "postgres", "-R", "-c", "fast"
            )
        else:
            self._do(
                "initdb",
                "--auth=trust",
                "--username=postgres",
                "--encoding=utf8",
                "--locale=C",
                "--no-sync",
            )
        self.start()

    def _do(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self._as, self.bin / program, "-D", self.folder / "data", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        more = " ".join(f"-c {name}={value}" for name, value in self.settings.items())
        # its output goes to the log, so that nobody waits for the end of it
        self._do(
            "pg_ctl",
            "-w",
            "-l",
            str(self.folder / "log"),
            "-o",
            f"-h '' -k {self.folder} -c max_connections=60 -c shared_buffers=32MB {more}",
            "start",
        )

    def promote(self) -> None:
        """From a standby to a server that is written."""
        self._do("pg_ctl", "-w", "promote")

    def stop(self, how: str = "immediate") -> None:
        self._do("pg_ctl", "-w", "-m", how, "stop")

    @property
    def pid(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def url(self, database: str = "postgres", role: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def new(self) -> str:
        """The URL of a new, empty database."""
        self._made += 1
        name = f"books{self._made}"
        self.sql(self.url(), f"CREATE DATABASE {name}")
        return self.url(name)

    @staticmethod
    def sql(url: str, statement: str, bindings: tuple[Any, ...] | None = None) -> list[Any]:
        """Do to a database what a book would never do."""
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement, bindings)
            return cursor.fetchall() if cursor.description else []

    @staticmethod
    def clear(url: str) -> None:
        """Take a book away."""
        PostgresServer.sql(
            url, "SET client_min_messages TO error; DROP SCHEMA IF EXISTS sfumato CASCADE"
        )


@contextmanager
def running(*, primary: PostgresServer | None = None, **settings: Any) -> Iterator[PostgresServer]:
    """A server of one's own, or a standby of another."""
    folder = Path(
        tempfile.mkdtemp(prefix="pg", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None)
    )
    server = PostgresServer(folder, primary=primary, **settings)
    try:
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder)
