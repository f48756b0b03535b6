"""Processes that are killed while they publish a stream.

`python -m tests.streams.kills BOOK` starts a process for each step of three days, which kills
itself there, and prints how many died, how often the stream was paid, and how many published
numbers changed afterwards.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

STEPS = [
    ("charge", False),
    ("charge", True),
    ("perturb", False),
    ("perturb", True),
    ("remember_first", False),
    ("remember_first", True),
]


def publish_until_killed(book: Path, day: int, name: str, late: bool, shown: int) -> None:
    """Publish a day, print nothing, and die at a step. What was published is in `shown`."""
    from sfumato.ledger import Ledger
    from sfumato.mechanisms import RunningSums

    from .histories import START, Visit, open_stream, table_at

    visits = [Visit(n, "Roma", n, 1 + n % 9, range(100)) for n in range(50)]
    stream = open_stream(table_at(visits, 9), book, unit=None)
    if stream.released:
        os.write(shown, f"{stream.periods()['n'].tolist()}\n".encode())
    if not name:
        os.write(
            shown, f"{[entry.kind for entry in stream.ledger.history()].count('charge')}".encode()
        )
        return
    holder: Any = RunningSums if name == "perturb" else Ledger
    inner: Callable[..., Any] = getattr(holder, name)

    def die(*arguments: Any, **keywords: Any) -> None:
        if late:
            inner(*arguments, **keywords)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(holder, name, die)
    stream.advance(until=START + timedelta(day))


def start(book: Path, *step: Any) -> int:
    """Run a step in a process of its own, and return the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            publish_until_killed(book, *step)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def main(book: Path) -> None:
    notes = book.with_suffix(".shown")
    shown = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    steps = [(day, name, late) for day in (1, 2, 3) for name, late in STEPS]
    killed = sum(start(book, *step, shown) == signal.SIGKILL for step in steps)
    start(book, 9, "", False, shown)
    *lists, charges = notes.read_text().splitlines()
    published = [line.strip("[]").split(", ") for line in lists]
    changed = sum(before != after[: len(before)] for before, after in pairwise(published))
    print("killed", killed, "charges", charges, "changed", changed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
