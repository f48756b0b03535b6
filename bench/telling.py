"""What the benches say, and where they ran: progress, tables, and the cores they keep to."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence


def say(text: str) -> None:
    """Progress, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def pin(cores: int = 1) -> str:
    """Stay on so many cores, and so will the processes that are started from here."""
    count = os.cpu_count()
    if not hasattr(os, "sched_setaffinity"):
        return f"{count} cores, not pinned"
    chosen = sorted(os.sched_getaffinity(0))[-cores:]
    os.sched_setaffinity(0, set(chosen))
    return f"pinned to one of {count} cores" if cores == 1 else f"{len(chosen)} of {count} cores"


def significant(value: float) -> str:
    """Three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def as_columns(rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal, head first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def as_pipes(rows: Sequence[Sequence[str]], words: Collection[str]) -> str:
    """A table for a page, head first; columns other than those of `words` hold numbers."""
    head, *body = rows
    under = ["---" if cell in words or not cell else "---:" for cell in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, under, *body))
