"""`sfumato synthesize`: write a synthetic table of one declared file, and its card."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from . import cli_refusals as refusals
from .query_command import DELTA, budget_in_ledger, read_declaration
from .terminal import show_status

WRITTEN = (".parquet", ".csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisRequest:
    """What to synthesize, at which cost, from which budget, and where to write it."""

    declaration: Path
    epsilon: str
    delta: str | None = None
    columns: Sequence[str] = ()
    rows: int | None = None
    ledger: str | None = None
    out: Path | None = None


def run_synthesis(path: Path, request: SynthesisRequest) -> None:
    """Write the rows and the card, and print the certificate; without a file, print the plan."""
    from ..exact.numbers import positive, probability
    from ..guarantees import Approx
    from ..session import protect
    from ..synth import plan_synthesis

    out = request.out
    if out is not None and out.suffix not in WRITTEN:
        raise refusals.SYNTHETIC_FILE(name=out.name)
    declared = read_declaration(request.declaration)
    e, d = positive(request.epsilon, "epsilon"), probability(request.delta or DELTA, "delta")
    stored = (
        None
        if request.ledger is None
        else budget_in_ledger(request.ledger, declared.get("name") or path.stem)
    )
    budget = stored or Approx(e, d)
    with protect(path, budget=budget, ledger=request.ledger, **declared) as table:
        chosen = _read_columns(request.columns)
        plan = plan_synthesis(
            table,
            epsilon=e,
            delta=d,
            columns=list(chosen) or None,
            bins={name: bins for name, bins in chosen.items() if bins is not None},
            rows=request.rows,
        )
        if out is None:
            sys.stdout.write(f"{plan}\n")
            return
        with show_status("measuring"):
            synthetic = plan.release()
        if out.suffix == ".csv":
            synthetic.to_csv(out)
        else:
            synthetic.to_parquet(out)
        card = out.with_suffix(".card.json")
        content = json.dumps(synthetic.card(), ensure_ascii=False, indent=2, default=str)
        card.write_text(content + "\n", encoding="utf-8")
        sys.stdout.write(f"{synthetic.certificate()}\n\n{out}: {len(synthetic):,} rows\n{card}\n")
        if request.ledger is None:
            sys.stdout.write("no --ledger was given: this cost is not recorded\n")


def _read_columns(options: Sequence[str]) -> dict[str, int | list[str] | list[date] | None]:
    """Return the columns, each with its bins or None: COLUMN, COLUMN=NUMBER or COLUMN=EDGE:EDGE."""
    parts = [part.partition("=") for option in options for part in option.split(",")]
    return {name: _read_bins(value) if sign else None for name, sign, value in parts}


def _read_bins(value: str) -> int | list[str] | list[date]:
    if value.isdecimal():
        return int(value)
    edges = value.split(":")
    try:
        return list(map(date.fromisoformat, edges))
    except ValueError:
        return edges
