"""`sfumato risk`: how exposed the people of a file are, as one page for a committee."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import Refused

_EXAMPLE = "sfumato risk visits.csv --columns sex,age,city --sensitive disease --out risk.html"


def tell(path: Path, columns: Sequence[str], sensitive: str | None, epsilons: Sequence[str], out: Path) -> None:
    """Read the file, write the page, print the findings."""
    from rich.console import Console

    from ..attacks.results import EPSILONS
    from ..attacks.risk import risk_report

    names = [name.strip() for given in columns for name in given.split(",") if name.strip()]
    if not names:
        raise Refused("attacks.columns", "--columns", "what an attacker may know of a person is said by columns", _EXAMPLE)
    _prepare(out)
    console = Console(highlight=False)
    with Console(stderr=True).status("attacking"):
        report = risk_report(path, names, sensitive=sensitive, epsilons=tuple(epsilons) or EPSILONS)
        file = report.write(out)
    for sentence in report.sentences:
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"Written to {file}", markup=False, soft_wrap=True)


def _prepare(out: Path) -> None:
    """Refuse before anything is read, and leave nothing behind."""
    new = not out.exists()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.touch()
        if new:
            out.unlink()
    except OSError:
        raise Refused("attacks.out", f"--out {out}", "the report cannot be written there", _EXAMPLE) from None
