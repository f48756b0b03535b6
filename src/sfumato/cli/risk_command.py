"""`sfumato risk`: report how exposed the people in a file are, as one HTML page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Refused
from . import cli_refusals as refusals
from .refusal import ReportFailed, rewrite_as_command
from .terminal import show_status

if TYPE_CHECKING:
    from ..attacks.report.risk import RiskReport


def run_risk(
    path: Path, columns: Sequence[str], sensitive: str | None, epsilons: Sequence[str], out: Path
) -> None:
    """Read the file, write the page, and print the findings."""
    from rich.console import Console

    names = _split(columns)
    if not names:
        raise refusals.COLUMNS_MISSING()
    _check(out)
    console = Console(highlight=False)
    with show_status("attacking"):
        report = _build_report(path, names, sensitive, _split(epsilons))
        file = _write_page(report, out)
    for sentence in report.sentences:
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"Written to {file}", markup=False, soft_wrap=True)


def _split(texts: Sequence[str]) -> list[str]:
    """Split an option that is repeated, or has commas, or both."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _build_report(
    path: Path, names: Sequence[str], sensitive: str | None, epsilons: Sequence[str]
) -> RiskReport:
    from ..attacks.lib.attack_result import EPSILONS
    from ..attacks.report.risk import risk_report

    try:
        with rewrite_as_command(refusals.RISK):
            return risk_report(
                path, names, sensitive=sensitive, epsilons=tuple(epsilons) or EPSILONS
            )
    except (ModuleNotFoundError, Refused):
        raise
    except Exception as error:
        raise ReportFailed from error


def _write_page(report: RiskReport, out: Path) -> Path:
    """Render the page, then create its directory and write it: a failure leaves nothing behind."""
    try:
        page = report.html
    except Exception as error:
        raise ReportFailed from error
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # the page is about the people in the table: it is for its user alone
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError:
        raise refusals.REPORT_NOT_WRITTEN(out=out) from None
    return out


def _check(out: Path) -> None:
    """Refuse a path that cannot be written, before anything is read: neither the file nor its
    directory is created here.
    """
    try:
        there = next(place for place in (out.absolute(), *out.absolute().parents) if place.exists())
    except OSError:  # a name that is too long, a directory that may not be looked into
        raise refusals.REPORT_NOT_WRITTEN(out=out) from None
    if there.is_dir() == (there == out.absolute()) or not os.access(there, os.W_OK):
        raise refusals.REPORT_NOT_WRITTEN(out=out)
