"""`sfumato reproduce`: every table and figure of the sources beside ours, as one page. Progress goes to the error stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def tell(out: Path, only: Sequence[str], *, repetitions: int, seed: int) -> None:
    """Run, write, and print the overview."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ..studies import STUDIES, Study, Verdict, reproduce, study
    from ..studies.report import lines

    for name in only:
        study(name)  # refuses before a bar is drawn
    console = Console(highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=len(set(only)) or len(STUDIES))

        def begin(now: Study) -> None:
            started = progress.tasks[bar].description != ""
            progress.update(bar, description=now.source, advance=1 if started else 0)

        page, done = reproduce(out, only, repetitions=repetitions, seed=seed, begin=begin)
    for line in lines(done):
        console.print(line, markup=False, soft_wrap=True)
    totals = " · ".join(f"{sum(result.count(verdict) for _, result in done)} {verdict}" for verdict in Verdict)
    console.print(f"\n{len(done)} studies: {totals}")
    console.print(f"Written to {page}", markup=False, soft_wrap=True)
