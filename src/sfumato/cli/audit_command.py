"""`sfumato audit`: claimed ε, proven lower bound, verdict, of everything that adds noise. Progress
goes to the error stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from .terminal import counting

REFUTED = 3
"""The exit code where a claim was refuted: something is broken."""


def tell(
    names: Sequence[str], *, samples: int, epsilons: Sequence[float], draws: bool, out: Path | None
) -> None:
    """Run, print the table, and write it with its picture where asked to. Ends with exit code 3
    where a claim was refuted.
    """
    from rich.console import Console

    from ..auditing.catalogue import EPSILONS
    from ..auditing.survey import chosen_entries, known_levels, survey
    from ..auditing.survey_report import lines, markdown, picture

    chosen = chosen_entries(names)  # refuses before a bar is drawn
    levels = known_levels(chosen, epsilons or EPSILONS)
    console = Console(highlight=False)
    with counting(len(chosen)) as begin:
        rows = survey(names, samples=samples, epsilons=levels, exact=not draws, begin=begin)
    for line in lines(rows):
        console.print(line, markup=False, soft_wrap=True)
    broken = [row for row in rows if row.verdict == "violated"]
    console.print(
        f"\n{len(rows)} claims, {sum(row.pairs for row in rows)} pairs of neighbours: "
        f"{len(broken)} refuted."
    )
    console.print("In all of it a true claim is refuted with a chance of 1e-6 at most.")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "audit.md").write_text(markdown(rows), encoding="utf-8")
        picture(rows).savefig(out / "audit.png")
        console.print(
            f"Written to {out / 'audit.md'} and {out / 'audit.png'}", markup=False, soft_wrap=True
        )
    if broken:
        raise typer.Exit(REFUTED)
