"""How fast the ledger is: durable charges beside bare commits of one row in the same run, and charges to short and to very long books.

*Commits*   One row into one table, WAL and `synchronous=FULL`: what the disk and SQLite cost without any book. Loops of fifty
            commits and of fifty charges take turns, in random order, because the speed of a shared disk changes from second to second; ratios are of sums.
*Growth*    The same charges to a book of 10³ and to one of 10⁶ entries, by turns. On a disk the sync hides everything else, so they are also made in shared
            memory, where a sync costs nothing.

Nothing fails for being slow: the last column says what was met. The output is Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import Ledger
from sfumato.testing.ledger import fill

SHARED_MEMORY = Path("/dev/shm")
COST = sf.Pure("1e-9")
NOISY = mech.Laplace(sensitivity=1, epsilon="1e-9", relation="add-remove", unit="patient")
OF_BARE, GROWTH = 0.7, 1.5
LOOP = 50


def book(path: Path, entries: int = 0) -> Ledger:
    ledger = sf.Ledger.open(path, budget=sf.Pure(1), dataset="visits", unit="patient", relation="add-remove")
    if entries:
        fill(ledger, entries, COST)
    return ledger


def bare(path: Path) -> Callable[[], object]:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, body TEXT)")

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO row (body) VALUES (?)", ("x" * 300,))
        connection.execute("COMMIT")

    return commit


def by_turns(actions: dict[str, Callable[[], object]], calls: int) -> dict[str, list[float]]:
    """The seconds of a call, on average over a loop, for every loop."""
    found: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(-1, calls // LOOP):  # the first turn does not count
        for name in random.sample(list(actions), len(actions)):
            start = time.perf_counter()
            for _ in range(LOOP):
                actions[name]()
            if turn >= 0:
                found[name].append((time.perf_counter() - start) / LOOP)
    return found


def ratio(above: list[float], below: list[float]) -> float:
    return sum(above) / sum(below)


def row(what: str, per_call: list[float], factor: str, goal: str, met: bool | None) -> None:
    middle, mean = statistics.median(per_call), statistics.fmean(per_call)
    print(f"| {what} | {1e6 * middle:,.0f} µs | {1 / mean:,.0f} | {factor} | {goal} | {'' if met is None else 'yes' if met else 'no'} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure; else the system's place for temporary files")
    parser.add_argument("--calls", type=int, default=4000, help="of each kind")
    parser.add_argument("--entries", type=int, default=10**6, help="of the long book")
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, {os.cpu_count()} cores, {platform.system()}\n")
    print("| on a disk | median | per second | ratio | goal | met |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        short, long = book(folder / "short.ledger", 10**3), book(folder / "long.ledger", asked.entries)
        disk: dict[str, Callable[[], object]] = {
            "bare": bare(folder / "bare"),
            "short": lambda: short.charge(COST),
            "long": lambda: long.charge(COST),
            "noisy": lambda: short.charge(NOISY),
        }
        found = by_turns(disk, asked.calls)
        speed, growth = ratio(found["bare"], found["short"]), ratio(found["long"], found["short"])
        row("bare commit of one row", found["bare"], "", "", None)
        row("charge of a guarantee", found["short"], f"{speed:.2f} × bare speed", f"≥ {OF_BARE}", speed >= OF_BARE)
        noisy = ratio(found["bare"], found["noisy"])
        row("charge of a Laplace mechanism", found["noisy"], f"{noisy:.2f} × bare speed", f"≥ {OF_BARE}", noisy >= OF_BARE)
        row(f"charge to a book of {asked.entries:,} entries", found["long"], f"{growth:.2f} × at 1,000", f"≤ {GROWTH}", growth <= GROWTH)
        for ledger in (short, long):
            ledger.close()
    if not SHARED_MEMORY.is_dir():
        return
    print("\n| where a sync costs nothing | median | per second | ratio | goal | met |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as name:
        folder = Path(name)
        short, long = book(folder / "short.ledger", 10**3), book(folder / "long.ledger", asked.entries)
        found = by_turns({"bare": bare(folder / "bare"), "short": lambda: short.charge(COST), "long": lambda: long.charge(COST)}, asked.calls)
        growth = ratio(found["long"], found["short"])
        row("bare commit of one row", found["bare"], "", "", None)
        row("charge to a book of 1,000 entries", found["short"], "", "", None)
        row(f"charge to a book of {asked.entries:,} entries", found["long"], f"{growth:.2f} × at 1,000", f"≤ {GROWTH}", growth <= GROWTH)
        start = time.perf_counter()
        checked = long.verify(long.head)
        took = time.perf_counter() - start
        print(f"\nverify() of {checked.head.number:,} entries: {took:.1f} s, {'whole' if checked.ok else checked.problems}")
        start = time.perf_counter()
        book(folder / "long.ledger").close()
        print(f"opening it: {1000 * (time.perf_counter() - start):.1f} ms")
        for ledger in (short, long):
            ledger.close()


if __name__ == "__main__":
    main()
