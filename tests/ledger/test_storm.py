"""The server is stopped the hard way, or its processes are killed, at random points under load.
What was acknowledged is there, and the book is whole.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

import sfumato as sf

from .books import HERE, open_book, quick_folder
from .servers import PostgresServer, running

WORKERS = 8


def crash(server: PostgresServer, chance: random.Random) -> None:
    """Stop everything at once and start again; or kill one process of the server, for which it
    throws out everybody and recovers by its log.
    """
    if chance.random() < 0.5:
        server.stop("immediate")
        server.start()
        return
    with suppress(psycopg.Error, ProcessLookupError):
        ((pid,),) = server.sql(
            server.url(),
            (
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'sfumato' ORDER "
                "BY random() LIMIT 1"
            ),
        ) or [(0,)]
        if pid:
            os.kill(pid, signal.SIGKILL)


def storm(
    server: PostgresServer, folder: Path, crashes: int, room: int, seed: int, *twin: str
) -> dict[str, int]:
    chance, stop, url = random.Random(seed), folder / "stop", server.new()
    open_book(url, room).close()
    command = [
        sys.executable,
        str(HERE / "storm.py"),
        url,
        str(folder),
        str(WORKERS),
        str(stop),
        *twin,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as writers:
        while (
            sum(bool(file.stat().st_size) for file in folder.glob("*.notes")) < WORKERS
        ):  # until all have begun
            time.sleep(0.02)
        for _ in range(crashes):
            time.sleep(chance.uniform(0.02, 0.4))
            crash(server, chance)
        time.sleep(0.3)
        stop.touch()
        assert writers.wait(120) == 0
    lines = [
        line.split()
        for file in folder.glob("*.notes")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    ledger = sf.Ledger.open(url)
    with ledger._store.reading() as tx:
        digests = dict(tx.execute("SELECT key, digest FROM entry WHERE kind = 'charge'").fetchall())
    receipts = {line[1]: line[2] for line in lines if line[0] == "receipt"}
    notes = [" ".join(line) for line in lines]
    counts = {
        "acknowledged": len(receipts),
        "lost": sum(
            key not in digests or (not twin and digests[key] != digest)
            for key, digest in receipts.items()
        ),
        "overspent": int(len(digests) > room),
        "unanswered": len(digests.keys() - receipts.keys()),
        "unsure": sum("unsure" in line for line in notes),
        "refused": sum(line.startswith("ledger.server") for line in notes),
        "other": sum(not line.startswith(("receipt", "full", "ledger.server")) for line in notes),
        "damaged": int(not ledger.verify(ledger.head).ok),
    }
    ledger.close()
    return counts


@pytest.mark.parametrize(
    ("crashes", "room"), [(6, 300), pytest.param(200, 20_000, marks=pytest.mark.slow)]
)
def test_attack_f3_the_server_crashes_at_random_points(crashes: int, room: int) -> None:
    with quick_folder() as folder, running() as server:
        counts = storm(server, folder, crashes, room, crashes)
    assert counts["acknowledged"] > 0
    assert counts["refused"] > 0
    assert counts["lost"] == counts["overspent"] == counts["damaged"] == counts["other"] == 0
    assert (
        counts["unanswered"] <= counts["unsure"]
    )  # whoever has an entry and no receipt was told so


def test_attack_f3_works_on_the_twin_that_answers_first() -> None:
    with quick_folder() as folder, running() as server:
        counts = storm(server, folder, 3, 100_000, 1, "early")
    assert counts["lost"] > 0
    assert counts["damaged"] == 0
