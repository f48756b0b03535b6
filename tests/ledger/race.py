"""Processes that race for the last of a budget. Prints what was granted each time, and what the
book says.

`python -m tests.ledger.race ledger|naive FOLDER-OR-URL ROOM ATTEMPTS WORKERS REPEATS` runs this.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable

import psycopg

import sfumato as sf

from .fresh import fresh

Ask = Callable[[int], bool]


def ledger_asker(path: str) -> Ask:
    ledger, cost = sf.Ledger.open(path), sf.Pure(1)

    def ask(turn: int) -> bool:
        try:
            ledger.charge(cost, memo=str(turn))
        except sf.BudgetExceeded:
            return False
        return True

    return ask


def naive_asker(path: str, room: int) -> Ask:
    """The twin: look, then write. Each step is safe by itself."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)

    def ask(turn: int) -> bool:
        (spent,) = connection.execute("SELECT count(*) FROM entry").fetchone()
        if spent + 1 > room:
            return False
        connection.execute("INSERT INTO entry VALUES (?)", (turn,))
        return True

    return ask


def naive_server_asker(url: str, room: int) -> Ask:
    """The same twin on a server, each step a transaction."""
    connection = psycopg.connect(url, autocommit=True)

    def ask(turn: int) -> bool:
        ((spent,),) = connection.execute("SELECT count(*) FROM entry").fetchall()
        if spent + 1 > room:
            return False
        connection.execute("INSERT INTO entry VALUES (%s)", (turn,))
        return True

    return ask


def race(make: Callable[[], Ask], attempts: int, workers: int) -> list[int]:
    """What each worker was granted."""
    start, go = os.pipe()
    results = []
    for _ in range(workers):
        result, tell = os.pipe()
        results.append(result)
        if os.fork() == 0:
            os.close(go)
            ask = make()
            os.read(start, 1)  # returns when the parent closes its end
            count = sum(ask(turn) for turn in range(attempts // workers))
            os.write(tell, str(count).encode())
            os._exit(0)
        os.close(tell)
    os.close(go)
    granted = [int(os.read(result, 20) or b"-1") for result in results]
    for _ in range(workers):
        os.wait()
    return granted


def main(kind: str, path: str, room: int, attempts: int, workers: int) -> dict[str, object]:
    if kind == "naive" and "://" in path:
        with psycopg.connect(path, autocommit=True) as database:
            database.execute("CREATE TABLE entry (turn int)")
        granted = race(lambda: naive_server_asker(path, room), attempts, workers)
        return {"granted": sum(granted), "workers": granted}
    if kind == "naive":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE entry (turn)")
        connection.close()
        granted = race(lambda: naive_asker(path, room), attempts, workers)
        return {"granted": sum(granted), "workers": granted}
    sf.Ledger.open(
        path, budget=sf.Pure(room), dataset="visits", unit="patient", relation="add-remove"
    ).close()
    granted = race(lambda: ledger_asker(path), attempts, workers)
    ledger = sf.Ledger.open(path)
    checked = ledger.verify(ledger.head)
    charges = sum(line.kind == "charge" for line in ledger.history())
    return {
        "granted": sum(granted),
        "workers": granted,
        "charges": charges,
        "spent": ledger.spent == ledger.budget,
        "problems": checked.problems,
    }


if __name__ == "__main__":
    kind, folder, *numbers = sys.argv[1:]
    *sizes, repeats = map(int, numbers)
    print(json.dumps([main(kind, fresh(folder, n), *sizes) for n in range(repeats)]))
