"""What commands share at a terminal: lines, the form of an answer, and signs of life. Progress goes
to the error stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


def form_of(*, as_json: bool, as_csv: bool) -> str:
    """How an answer is to be written: text, json or csv."""
    if as_json and as_csv:
        raise typer.BadParameter("one of --json and --csv")
    return "json" if as_json else "csv" if as_csv else "text"


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def working(what: str) -> Iterator[None]:
    """A sign of life; how far a question has come is about the data, and never shown."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def counting(total: int) -> Iterator[Callable[[str], None]]:
    """A bar over so many public things, for the time that it takes; what is yielded is told the
    name of each as it begins.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=total)
        yield lambda name: progress.update(
            bar, description=name, advance=1 if progress.tasks[bar].description else 0
        )
