"""`sfumato audit`: print claimed ε, proven lower bound and verdict of every mechanism. Progress
goes to the error stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from .terminal import progress_bar

REFUTED = 3
"""The exit code if the audit refutes a claim: something is broken."""


def run_audit(
    names: Sequence[str], *, samples: int, epsilons: Sequence[float], draws: bool, out: Path | None
) -> None:
    """Run the audit, print the table, and write it with its picture into `out`. Exits with code 3
    if a claim is refuted.
    """
    from rich.console import Console

    from ..auditing.catalogue import EPSILONS
    from ..auditing.survey import check_levels, find_entries, survey
    from ..auditing.survey_report import markdown_table, plot_survey, table_lines

    chosen = find_entries(names)  # refuses before a bar is drawn
    levels = check_levels(chosen, epsilons or EPSILONS)
    console = Console(highlight=False)
    with progress_bar(len(chosen)) as begin:
        rows = survey(names, samples=samples, epsilons=levels, exact=not draws, begin=begin)
    for line in table_lines(rows):
        console.print(line, markup=False, soft_wrap=True)
    broken = [row for row in rows if row.verdict == "violated"]
    console.print(
        f"\n{len(rows)} claims, {sum(row.pairs for row in rows)} pairs of neighbours: "
        f"{len(broken)} refuted."
    )
    console.print("The probability that this audit refutes any true claim is at most 1e-6.")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "audit.md").write_text(markdown_table(rows), encoding="utf-8")
        plot_survey(rows).savefig(out / "audit.png")
        console.print(
            f"Written to {out / 'audit.md'} and {out / 'audit.png'}", markup=False, soft_wrap=True
        )
    if broken:
        raise typer.Exit(REFUTED)
