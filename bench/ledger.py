"""How fast the ledger is: durable charges beside bare commits of one row in the same run, and
charges to short and to very long books.

*Commits*   One row into one table, as long as the row of a charge, through apsw with WAL,
            `synchronous=FULL` and the same pages: what the disk and SQLite cost without any book.
            Loops of fifty commits and of fifty charges take turns, in random order, because the
            speed of a shared disk changes from second to second; ratios are of sums. A log grows at
            first, and is then written over again: both are measured, the first loops of new files
            and, after these, the steady state, which is faster for everybody and so the harder
            comparison.
*Growth*    The same charges to a book of 10³ and to a long one, by turns. On a disk the sync hides
            everything else, so they are also made in shared memory, where a sync costs nothing.
*Answers*   What `verify` and `course` take, in seconds of the processor, where every charge was
            answered.
*A query*   What `recall`, `charge` and `remember` take in a book in memory, as one query of a table
            asks for them.

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
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path

import apsw

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import Ledger, course
from sfumato.ledger.verify import Checked
from sfumato.testing.ledger_fixtures import fill, fill_answers

SHARED_MEMORY = Path("/dev/shm")
COST = sf.Pure("1e-9")
NOISY = mech.Laplace(sensitivity=1, epsilon="1e-9", relation="add-remove", unit="patient")
OF_BARE, GROWTH = 0.7, 1.5
LOOP = 50
LOG = 1000  # pages of SQLite's log, after which it is written over again
TABLE = "\n| {} | median | per second | ratio | goal | met |\n|---|---|---|---|---|---|"
QUESTION, ANSWER = (
    "SELECT city, COUNT(*) FROM visits GROUP BY city | bounds v1 | data of 2026-03-01",
    b'{"Roma": 12040, "Bari": 771}',
)


def book(path: Path | None, entries: int = 0) -> Ledger:
    ledger = sf.Ledger.open(
        path, budget=sf.Pure(1), dataset="visits", unit="patient", relation="add-remove"
    )
    if entries:
        fill(ledger, entries, COST)
    return ledger


def bare(path: Path, length: int) -> Callable[[], object]:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, body TEXT)")
    body = "x" * length

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO row (body) VALUES (?)", (body,))
        connection.execute("COMMIT")

    return commit


def length_of(ledger: Ledger) -> int:
    """Of the last row that a charge wrote."""
    with ledger._store.reading() as tx:
        ((length,),) = tx.execute(
            "SELECT length(body) + length(digest) + length(spent) + length(state) FROM "
            "entry ORDER BY number DESC LIMIT 1"
        ).fetchall()
    return int(length)


def by_turns(actions: dict[str, Callable[[], object]], calls: int) -> dict[str, list[float]]:
    """The seconds of a call, on average over a loop, for every loop."""
    found: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(max(1, calls // LOOP)):
        for name in random.sample(list(actions), len(actions)):
            start = time.perf_counter()
            for _ in range(LOOP):
                actions[name]()
            found[name].append((time.perf_counter() - start) / LOOP)
    return found


def ratio(above: list[float], below: list[float]) -> float:
    return sum(above) / sum(below)


def row(what: str, per_call: list[float], factor: str, goal: str, met: bool | None) -> None:
    middle, mean = statistics.median(per_call), statistics.fmean(per_call)
    print(
        f"| {what} | {1e6 * middle:,.0f} µs | {1 / mean:,.0f} | {factor} | {goal} | "
        f"{'' if met is None else 'yes' if met else 'no'} |"
    )


def beside_bare(found: dict[str, list[float]], when: str) -> None:
    row(f"bare commit of one row, {when}", found["bare"], "", "", None)
    for name, what in (
        ("short", "charge of a guarantee"),
        ("noisy", "charge of a Laplace mechanism"),
    ):
        speed = ratio(found["bare"], found[name])
        row(
            f"{what}, {when}",
            found[name],
            f"{speed:.2f} × bare speed",
            f"≥ {OF_BARE}",
            speed >= OF_BARE,
        )


def beside_short(found: dict[str, list[float]], entries: int) -> None:
    growth = ratio(found["long"], found["short"])
    row(
        f"charge to a book of {entries:,} entries",
        found["long"],
        f"{growth:.2f} × at 1,000",
        f"≤ {GROWTH}",
        growth <= GROWTH,
    )


def on_a_disk(folder: Path, calls: int, entries: int) -> None:
    short, noisy, long = (
        book(folder / "short", 10**3),
        book(folder / "noisy", 10**3),
        book(folder / "long", entries),
    )
    short.charge(COST)
    charges: dict[str, Callable[[], object]] = {
        "bare": bare(folder / "bare", length_of(short)),
        "short": lambda: short.charge(COST),
        "noisy": lambda: noisy.charge(NOISY),
        "long": lambda: long.charge(COST),
    }
    beside_bare(by_turns(charges, LOG // 4), "log still growing")
    by_turns(charges, LOG)
    found = by_turns(charges, calls)
    beside_bare(found, "steady")
    beside_short(found, entries)
    for ledger in (short, noisy, long):
        ledger.close()


def without_syncs(folder: Path, calls: int, entries: int) -> None:
    short, long = book(folder / "short", 10**3), book(folder / "long", entries)
    short.charge(COST)
    charges = {
        "bare": bare(folder / "bare", length_of(short)),
        "short": lambda: short.charge(COST),
        "long": lambda: long.charge(COST),
    }
    by_turns(charges, LOG // 4)
    found = by_turns(charges, calls)
    row("bare commit of one row", found["bare"], "", "", None)
    row("charge to a book of 1,000 entries", found["short"], "", "", None)
    beside_short(found, entries)
    start = time.perf_counter()
    checked = long.verify(long.head)
    took = time.perf_counter() - start
    print(
        f"\nverify() of {checked.head.number:,} entries: {took:.1f} s, "
        f"{'whole' if checked.ok else checked.problems}"
    )
    start = time.perf_counter()
    book(folder / "long").close()
    print(f"opening it: {1000 * (time.perf_counter() - start):.1f} ms")
    for ledger in (short, long):
        ledger.close()


def with_answers(folder: Path, answers: int) -> None:
    """Two books in which every charge was answered, the second four times as long: what grows
    faster than the book shows.
    """
    print(
        "\n| answers of 500 bytes, a charge each | verify | again, after one more | "
        "course |\n|---|---|---|---|"
    )
    for name, count_ in (("few", answers // 4), ("many", answers)):
        ledger = book(folder / name)
        ledger.allow("alice", sf.Pure(1))
        fill_answers(ledger, count_, COST, b"x" * 500, "alice")
        seconds, checked = [], Checked()
        for look in (
            partial(ledger.verify, since=checked),
            partial(ledger.verify, since=checked),
            partial(course, ledger),
        ):
            start = time.process_time()
            look()
            seconds.append(time.process_time() - start)
            ledger.charge(COST, share="alice")
        print(
            f"| {count_:,} | {seconds[0]:.1f} s | {1000 * seconds[1]:.1f} ms | {seconds[2]:.1f} s |"
        )
        ledger.close()


def a_query(calls: int) -> None:
    ledger, number = book(None), count()
    paid = ledger.charge(NOISY)
    steps: dict[str, Callable[[], object]] = {
        "recall, nothing found": lambda: ledger.recall(QUESTION),
        "charge of the mechanism used before": lambda: ledger.charge([NOISY]),
        "charge of a new mechanism, made and priced": lambda: ledger.charge(
            [mech.Laplace(sensitivity=1, epsilon=Fraction(1, 10**9 + next(number)))]
        ),
        "remember": lambda: ledger.remember(paid, f"{QUESTION} {next(number)}", ANSWER),
        "recall, found": lambda: ledger.recall(f"{QUESTION} 0"),
    }
    ledger.remember(paid, f"{QUESTION} 0", ANSWER)
    for name, loops in by_turns(steps, calls).items():
        row(name, loops, "", "", None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=None,
        help="a folder on the disk to measure; else the system's place for temporary files",
    )
    parser.add_argument("--calls", type=int, default=2000, help="of each kind")
    parser.add_argument(
        "--entries", type=int, default=10**5, help="of the long book; the goal is about 1000000"
    )
    asked = parser.parse_args()
    print(
        f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, "
        f"{os.cpu_count()} cores, {platform.system()}"
    )
    print(TABLE.format("on a disk"))
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        on_a_disk(Path(name), asked.calls, asked.entries)
    if SHARED_MEMORY.is_dir():
        print(TABLE.format("where a sync costs nothing"))
        with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as name:
            without_syncs(Path(name), asked.calls, asked.entries)
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        with_answers(Path(name), asked.entries)
    print(TABLE.format("a query, in memory"))
    a_query(asked.calls // 2)


if __name__ == "__main__":
    main()
