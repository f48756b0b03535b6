"""`sfumato reproduce`: compare every table and figure of the sources with ours, as one page.
Progress goes to the error stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .terminal import progress_bar


def run_reproduction(out: Path, only: Sequence[str], *, repetitions: int, seed: int) -> None:
    """Run the studies, write the report, and print the overview."""
    from rich.console import Console

    from ..studies import STUDIES, Verdict, reproduce, study
    from ..studies.study_report import lines

    for name in only:
        study(name)  # refuses before a bar is drawn
    console = Console(highlight=False)
    with progress_bar(len(set(only)) or len(STUDIES)) as begin:
        page, done = reproduce(
            out, only, repetitions=repetitions, seed=seed, begin=lambda now: begin(now.source)
        )
    for line in lines(done):
        console.print(line, markup=False, soft_wrap=True)
    totals = " · ".join(
        f"{sum(result.count(verdict) for _, result in done)} {verdict}" for verdict in Verdict
    )
    console.print(f"\n{len(done)} studies: {totals}")
    console.print(f"Written to {page}", markup=False, soft_wrap=True)
