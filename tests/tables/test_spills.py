"""What an engine spills lies in a private directory, which is removed, at the latest by the next
process.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.tables.engine import spills
from sfumato.tables.engine.spills import LOCK, Spills, sweep

CANARY = b"Xenophon"
SPILLING = """
import ibis
from sfumato.tables.engine.duckdb_engine import DuckDBEngine, limit_engines
with limit_engines(threads=1, memory=100 * 2**20):
    engine = DuckDBEngine()
print(engine.directory, flush=True)
rows = ibis.range(3_000_000).unnest().name("i").as_table()
number = (rows.i * 7919 % 3_000_017).cast("string")
wide = rows.mutate(a=ibis.literal("Xenophon") + number + "x" * 40)
engine.run(wide.group_by("a").agg(n=wide.count()).agg(groups=lambda t: t.count()))
"""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for temporary files of this test and of the processes that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    spills._sweep_once.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    spills._sweep_once.cache_clear()


def test_a_directory_is_private_and_goes_when_it_is_not_used() -> None:
    spill = Spills()
    directory = Path(spill.path)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / LOCK).stat().st_mode) == 0o600
    sweep()  # it is in use
    assert directory.exists()
    spill.remove()
    assert not directory.exists()
    directory = Path(Spills().path)  # nobody keeps it
    assert not directory.exists()


def test_what_a_killed_process_has_spilled_is_removed_by_the_next(scratch: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SPILLING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    directory = Path(process.stdout.readline().strip())
    assert directory.parent == scratch

    def spilled() -> int:
        return sum(path.read_bytes().count(CANARY) for path in directory.iterdir())

    end = time.monotonic() + 120
    while not spilled() and time.monotonic() < end:
        time.sleep(0.05)
    sweep()
    assert directory.exists()  # somebody's
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert spilled() > 0, "nothing was spilled: the test has no force"
    spill = Spills()  # as the next engine does
    assert [path.name for path in scratch.iterdir()] == [Path(spill.path).name]
    spill.remove()


def test_what_is_somebody_elses_is_left_alone(scratch: Path) -> None:
    (scratch / "sfumato-notes").write_text("a file", encoding="ascii")
    (scratch / "sfumato-other").mkdir()  # without a lock: it is just being made, or something else
    (scratch / "other").mkdir()
    (scratch / "other" / LOCK).touch()
    (scratch / "sfumato-link").symlink_to(scratch / "other")
    sweep()
    assert sorted(path.name for path in scratch.iterdir()) == [
        "other",
        "sfumato-link",
        "sfumato-notes",
        "sfumato-other",
    ]
    assert os.listdir(scratch / "other") == [LOCK]
