"""What the tests of the ledger share: small books, scripts that fork, a quick place for files."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

import sfumato as sf

HERE = Path(__file__).parent
SHARED_MEMORY = Path("/dev/shm")
"""Where a commit costs no time: races and killed processes do not depend on the disk. Power loss
has a test of its own.
"""


def nowhere() -> str | None:
    """Where a book without a path is: in memory, unless a fixture says otherwise."""
    return None


def open_book(path: Path | str | None, room: int | str = 10, **more: Any) -> sf.Ledger:
    """A book with room for so many charges of `Pure(1)`."""
    place = nowhere() if path is None else path
    return sf.Ledger.open(
        place,
        **{
            "budget": sf.Pure(room),
            "dataset": "visits",
            "unit": "patient",
            "relation": "add-remove",
            **more,
        },
    )


@contextmanager
def quick_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as name:
        yield Path(name)


def run(module: str, *arguments: object) -> Any:
    """What a module of this folder prints. It runs in a process with one thread, which may fork."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.ledger.{module}", *map(str, arguments)],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sql(path: Path, statement: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
    """Do to a book what its own interface would never do."""
    connection = apsw.Connection(str(path))
    try:
        return list(connection.execute(statement, bindings))
    finally:
        connection.close()


def loosen(path: Path) -> None:
    """Drop the triggers that protect entries, as an attacker would do before an edit."""
    sql(path, "DROP TRIGGER entry_stays")
    sql(path, "DROP TRIGGER entry_kept")


def tighten(path: Path) -> None:
    """And put them back."""
    from sfumato.ledger.storage.sqlite_schema import TABLES

    for line in TABLES.splitlines():
        if line.startswith("CREATE TRIGGER"):
            sql(path, line)
