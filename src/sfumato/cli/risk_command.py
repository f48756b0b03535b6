"""`sfumato risk`: how exposed the people of a file are, as one page for a committee."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Refused
from .refusal import Unmade, typed
from .terminal import working

if TYPE_CHECKING:
    from ..attacks.report.risk import RiskReport

_EXAMPLE = "sfumato risk visits.csv --columns sex,age,city --sensitive disease --out risk.html"


def tell(
    path: Path, columns: Sequence[str], sensitive: str | None, epsilons: Sequence[str], out: Path
) -> None:
    """Read the file, write the page, print the findings."""
    from rich.console import Console

    names = _split(columns)
    if not names:
        raise Refused(
            "attacks.columns",
            "--columns",
            "what an attacker may know of a person is said by columns",
            _EXAMPLE,
        )
    _check(out)
    console = Console(highlight=False)
    with working("attacking"):
        report = _made(path, names, sensitive, _split(epsilons))
        file = _written(report, out)
    for sentence in report.sentences:
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"Written to {file}", markup=False, soft_wrap=True)


def _split(given: Sequence[str]) -> list[str]:
    """An option that is repeated, or has commas, or both."""
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def _made(
    path: Path, names: Sequence[str], sensitive: str | None, epsilons: Sequence[str]
) -> RiskReport:
    from ..attacks.lib.attack_result import EPSILONS
    from ..attacks.report.risk import risk_report

    try:
        with typed(_EXAMPLE):
            return risk_report(
                path, names, sensitive=sensitive, epsilons=tuple(epsilons) or EPSILONS
            )
    except (ModuleNotFoundError, Refused):
        raise
    except Exception as error:
        raise Unmade from error


def _written(report: RiskReport, out: Path) -> Path:
    """The page is made before its directory is, so that nothing is left behind where that fails."""
    try:
        page = report.html
    except Exception as error:
        raise Unmade from error
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = os.open(
            out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600
        )  # the page is about the people in the table: it is for its user alone
        with os.fdopen(made, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError:
        raise _refused(out) from None
    return out


def _check(out: Path) -> None:
    """Refuse before anything is read, and make nothing: a file that may be written, in a directory
    that is there or can be made.
    """
    try:
        there = next(place for place in (out.absolute(), *out.absolute().parents) if place.exists())
    except OSError:  # a name that is too long, a directory that may not be looked into
        raise _refused(out) from None
    if there.is_dir() == (there == out.absolute()) or not os.access(there, os.W_OK):
        raise _refused(out)


def _refused(out: Path) -> Refused:
    return Refused("attacks.out", f"--out {out}", "the report cannot be written there", _EXAMPLE)
