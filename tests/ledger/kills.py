"""Writers that are killed. Prints what was acknowledged and what the books say.

`python -m tests.ledger.kills ledger|early FOLDER PLACE KILLS ROOM WORKERS SEED` runs this.
The notes are in the folder, the books in the place: the same folder, or a server.

Each writer charges, and notes the receipt in a file that outlives it. `early` is the twin: it notes
first, as one who answers before the charge is durable.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import sfumato as sf

from .fresh import fresh


def writer(path: str, notes: int, name: str, *, early: bool) -> None:
    ledger, cost = sf.Ledger.open(path), sf.Pure(1)
    turn = 0
    while True:
        turn += 1
        if early:
            os.write(notes, f"{name} {turn} -\n".encode())
        try:
            receipt = ledger.charge(cost, memo=name, key=f"{name}-{turn}")
        except sf.BudgetExceeded:
            time.sleep(0.001)
            continue
        if not early:
            os.write(notes, f"{name} {turn} {receipt.digest}\n".encode())


def start(path: str, notes: int, name: str, early: bool) -> int:
    child = os.fork()
    if child == 0:
        try:
            writer(path, notes, name, early=early)
        finally:
            os._exit(1)
    return child


def round_of_kills(
    folder: Path,
    place: str,
    label: str,
    kills: int,
    room: int,
    workers: int,
    chance: random.Random,
    early: bool,
) -> dict[str, int]:
    """Kill writers of one book until its budget is spent, and three more; then hold the notes
    against the book.
    """
    path, noted = fresh(place, label), folder / f"{label}.notes"
    sf.Ledger.open(
        path, budget=sf.Pure(room), dataset="visits", unit="patient", relation="add-remove"
    ).close()
    notes = os.open(noted, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    running = {f"{label}.{n}": 0 for n in range(workers)}
    for name in running:
        running[name] = start(path, notes, name, early)
    started, done, after = workers, 0, 0
    while done < kills and after < 3:
        time.sleep(chance.expovariate(200))
        name = chance.choice(sorted(running))
        os.kill(running.pop(name), signal.SIGKILL)
        os.wait()
        done += 1
        running[f"{label}.{started}"] = start(path, notes, f"{label}.{started}", early)
        started += 1
        if done % 4 == 0 or after:
            after += sf.Ledger.open(path).remaining == sf.Pure(
                0, relation="add-remove", unit="patient"
            )
    for child in running.values():
        os.kill(child, signal.SIGKILL)
        os.wait()
    os.close(notes)
    return {
        "kills": done + len(running),
        "bound": int(after > 0),
        **compare(path, noted, room, early),
    }


def compare(path: str, noted: Path, room: int, early: bool) -> dict[str, int]:
    ledger = sf.Ledger.open(path)
    with ledger._store.reading() as tx:
        rows = tx.execute("SELECT key, digest FROM entry WHERE kind = 'charge'").fetchall()
    digests: dict[str, str] = dict(rows)
    acknowledged = {
        f"{name}-{turn}": digest
        for name, turn, digest in (line.split() for line in noted.read_text().splitlines())
    }
    lost = sum(
        key not in digests or (not early and digests[key] != digest)
        for key, digest in acknowledged.items()
    )
    unanswered: dict[str, int] = {}
    for key in digests.keys() - acknowledged.keys():
        name = key.rpartition("-")[0]
        unanswered[name] = unanswered.get(name, 0) + 1
    return {
        "acknowledged": len(acknowledged),
        "lost": lost,
        "overspent": int(len(digests) > room),
        "unanswered": sum(unanswered.values()),
        "unanswered by one writer": max(unanswered.values(), default=0),
        "damaged": int(not ledger.verify(ledger.head).ok),
    }


def main(
    kind: str, folder: str, place: str, kills: int, room: int, workers: int, seed: int
) -> dict[str, int]:
    chance, total = random.Random(seed), dict.fromkeys(("kills", "books"), 0)
    while total["kills"] < kills:
        counts = round_of_kills(
            Path(folder),
            place,
            f"book{total['books']}",
            kills - total["kills"],
            room,
            workers,
            chance,
            kind == "early",
        )
        total["books"] += 1
        for name, value in counts.items():
            total[name] = (
                max(total.get(name, 0), value)
                if name == "unanswered by one writer"
                else total.get(name, 0) + value
            )
    return total


if __name__ == "__main__":
    kind, folder, place, *numbers = sys.argv[1:]
    print(json.dumps(main(kind, folder, place, *map(int, numbers))))
