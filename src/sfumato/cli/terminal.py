"""Terminal helpers that commands share: options, lines, output formats and progress. Progress goes
to the error stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer


def option(metavar: str, about: str, *, default: bool | str = False, **limits: Any) -> Any:
    """Describe an option with a value. `default` is the text of its default in the help; True shows
    the value itself, False shows none.
    """
    return typer.Option(metavar=metavar, help=about, show_default=default, **limits)


def argument(metavar: str, about: str, *, default: bool | str = False) -> Any:
    """Describe an argument, as `option` describes an option."""
    return typer.Argument(metavar=metavar, help=about, show_default=default)


def flag(name: str, about: str) -> Any:
    """Describe an option without a value."""
    return typer.Option(name, help=about)


def output_format(*, as_json: bool, as_csv: bool) -> str:
    """Return the output format: text, json or csv."""
    if as_json and as_csv:
        raise typer.BadParameter("give --json or --csv, not both")
    return "json" if as_json else "csv" if as_csv else "text"


def count_things(count: int, name: str) -> str:
    """Write a number of things: 1 byte, 2 bytes."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def print_line(line: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def show_status(what: str) -> Iterator[None]:
    """Show a spinner. Progress within a question would be about the data, and is never shown."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar over `total` public steps. Yields a function to call with the name of
    each step as it begins.
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
