"""`sfumato local`: write a question, perturb values into reports, estimate from reports.

The question is public JSON. Only `perturb` reads values, and only the reports may leave the device.
A refusal about a wrong value never says which value it was.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..templates.text_cells import align_rows, printable_line, shorten_line
from . import cli_refusals as refusals
from .terminal import argument, count_things, flag, option, output_format, show_status

if TYPE_CHECKING:
    from ..local import Oracle

local = typer.Typer(
    help="The local model: each person perturbs the answer before sending it.", no_args_is_help=True
)

TableRow = dict[str, object]
QuestionOption = Annotated[Path, option("JSON", "The question, as `sfumato local ask` writes it.")]


@local.command(
    epilog="Examples:  sfumato local ask unary --epsilon 1 --categories yes,no > question.json  ·  "
    "sfumato local ask piecewise --epsilon 2 --low 0 --high 100 > question.json"
)
def ask(
    kind: Annotated[
        str,
        argument(
            "KIND",
            "direct, unary, hashing, hadamard, hadamard-sketch, subset, sketch, rappor, one-bit, "
            "piecewise, ordinal or prefix.",
            default=True,
        ),
    ],
    epsilon: Annotated[str, option("NUMBER", "Privacy loss of one report, such as 1 or 1/3.")],
    categories: Annotated[str | None, option("A,B", "All possible answers.")] = None,
    low: Annotated[str | None, option("NUMBER", "The lower end of a number.")] = None,
    high: Annotated[str | None, option("NUMBER", "The upper end of a number.")] = None,
    edges: Annotated[str | None, option("0,10,20", "Edges of ordered buckets.")] = None,
    length: Annotated[int | None, option("NUMBER", "Letters of a text.")] = None,
    unit: Annotated[str | None, option("NAME", "Whom a report is about.")] = None,
) -> None:
    """Print a question as JSON. It is public: clients answer it, and anyone may check its
    promise.
    """
    from ..local.restore_question import KINDS

    composite = ("several", "panel")  # questions that hold questions: written in Python
    if kind not in KINDS or kind in composite:
        kinds = ", ".join(name for name in KINDS if name not in composite)
        raise typer.BadParameter(f"{kind!r} is none of {kinds}")
    options = {
        "categories": _listed(categories),
        "low": low,
        "high": high,
        "edges": _listed(edges),
        "length": length,
        "unit": unit,
    }
    options |= {"hadamard": True} if kind == "hadamard-sketch" else {}
    chosen_options = {name: value for name, value in options.items() if value is not None}
    build: Callable[..., Oracle] = KINDS[kind]  # each kind takes other options
    try:
        oracle = build(epsilon=epsilon, **chosen_options)
    except TypeError:
        raise typer.BadParameter(
            f"{kind} needs other options: --categories, --low and --high, --edges, or --length"
        ) from None
    sys.stdout.write(json.dumps(oracle.question, ensure_ascii=False, indent=2) + "\n")


@local.command(
    epilog="Example:  sfumato local perturb answers.csv --question question.json --column "
    "smokes --out reports.sflr"
)
def perturb(
    path: Annotated[Path, argument("FILE", "CSV or Parquet: a row for each person.")],
    question: QuestionOption,
    out: Annotated[Path, option("FILE", "Where the reports go.")],
    column: Annotated[
        str | None,
        option("NAME", "The column that answers.", default="the names of several questions"),
    ] = None,
) -> None:
    """Perturb a column of values into reports, one for each row. Only the reports may leave the
    device.
    """
    from ..local import Panel, Questionnaire

    oracle = _oracle(question)
    if isinstance(oracle, Panel):
        raise refusals.PANEL_NEEDS_MEMORY(name=question.name)
    if (column is None) != isinstance(oracle, Questionnaire):
        raise typer.BadParameter(
            "--column names the column of one question; a question made of several names its "
            "columns itself"
        )
    parts = (
        {name: oracle[name] for name in oracle.names}
        if isinstance(oracle, Questionnaire)
        else {str(column): oracle}
    )
    with show_status("perturbing"):
        values = {name: _column(path, name, part) for name, part in parts.items()}
        reports = oracle.perturb(values if column is None else values[column])
    try:
        out.write_bytes(reports.to_bytes())
    except OSError:
        raise refusals.REPORTS_NOT_WRITTEN(name=out.name) from None
    sys.stdout.write(
        f"{count_things(len(reports), 'report')} of {count_things(oracle.width, 'byte')} in "
        f"{out.name}: each report keeps {oracle.promise}\n"
    )
    for name, part in parts.items():
        if outside := part.count_outside(values[name]):
            sys.stderr.write(
                f"{outside} of {count_things(len(values[name]), 'value')} of {printable_line(name)}"
                f" {'is' if outside == 1 else 'are'} {_rule_outside(part)}. This count is exact: "
                f"it is for you alone, and no part of the reports.\n"
            )


@local.command(
    epilog="Example:  sfumato local estimate reports.sflr --question question.json --confidence "
    "0.99 --csv"
)
def estimate(
    paths: Annotated[
        list[Path], argument("FILE…", "Reports to one question, in one file or in several.")
    ],
    question: QuestionOption,
    confidence: Annotated[str, option("NUMBER", "Of the intervals.", default=True)] = "0.95",
    simultaneous: Annotated[bool, flag("--simultaneous", "Intervals that hold together.")] = False,
    drop: Annotated[bool, flag("--drop", "Leave out reports that no client sends.")] = False,
    as_json: Annotated[bool, flag("--json", "As JSON.")] = False,
    as_csv: Annotated[bool, flag("--csv", "As CSV.")] = False,
) -> None:
    """Estimate from reports, with intervals. Reports are public: estimating costs nothing."""
    form = output_format(as_json=as_json, as_csv=as_csv)
    oracle = _oracle(question)
    with show_status("estimating"):
        parts = [oracle.read(_bytes(path), drop=drop) for path in paths]
        reports = parts[0]
        for part in parts[1:]:
            reports = reports + part
        rows = rows_of(oracle.estimate(reports), confidence, simultaneous=simultaneous)
    keeps = (
        f"which together keep {oracle.promise} for each person"
        if oracle.kind == "panel"
        else f"each with {oracle.promise}"
    )
    if form == "json":
        about = {
            "reports": len(reports),
            "epsilon": str(oracle.epsilon),
            "confidence": confidence,
            "simultaneous": simultaneous,
        }
        sys.stdout.write(json.dumps({**about, "rows": rows}, ensure_ascii=False, indent=2) + "\n")
    elif form == "csv":
        sys.stdout.write(_as_csv(rows))
    else:
        together = "together" if simultaneous else "each"
        sys.stdout.write(
            _as_text(rows)
            + f"\n{count_things(len(reports), 'report')}, {keeps}; intervals of {confidence}, "
            f"{together}\n"
        )


def _rule_outside(oracle: Oracle) -> str:
    """Say what outside means for a question, and what becomes of such a value."""
    if "categories" in oracle.question:
        listed = ", ".join(map(str, oracle.question["categories"]))
        return f"none of {shorten_line(listed, 60)}: a random one was reported in its place"
    return "no number between the ends: the nearer end was reported, or the lower one"


def rows_of(estimate: object, confidence: str, *, simultaneous: bool) -> list[TableRow]:
    """Turn an estimate into rows of a table."""
    from ..local.estimate_views import EstimateViews

    if isinstance(estimate, dict):
        rows = [
            (name, row)
            for name, part in estimate.items()
            for row in rows_of(part, confidence, simultaneous=simultaneous)
        ]
        return [
            {"question" if isinstance(name, str) else "wave": name, **row} for name, row in rows
        ]
    assert isinstance(estimate, EstimateViews)
    return estimate.rows(confidence, simultaneous=simultaneous)


def _oracle(path: Path) -> Oracle:
    from ..local import restore

    return restore(_bytes(path).decode("utf-8", errors="replace"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise refusals.FILE_UNREADABLE(name=path.name) from None


def _column(path: Path, name: str, oracle: Oracle) -> list[object]:
    """Read a column of a file as values of the question."""
    values = _parquet(path, name) if path.suffix == ".parquet" else _csv(path, name)
    if path.suffix == ".parquet" or "categories" not in oracle.question:
        return values
    named: dict[object, object] = {
        _text(category): category for category in oracle.question["categories"]
    }
    return [named.get(value, value) for value in values]


def _csv(path: Path, name: str) -> list[object]:
    rows = csv.DictReader(io.StringIO(_bytes(path).decode("utf-8-sig"), newline=""))
    if name not in (rows.fieldnames or ()):
        raise refusals.CSV_COLUMN_MISSING(column=name, path=path)
    return [row[name] or "" for row in rows]


def _parquet(path: Path, name: str) -> list[object]:
    import pyarrow.parquet as pq

    if not path.is_file():
        raise refusals.FILE_UNREADABLE(name=path.name)
    if name not in pq.read_schema(path).names:
        raise refusals.PARQUET_COLUMN_MISSING(column=name, path=path)
    values: list[object] = pq.read_table(path, columns=[name]).column(name).to_pylist()
    return values


def _text(category: object) -> str:
    """Return the text of a category in CSV."""
    return (
        ""
        if category is None
        else str(category).lower()
        if isinstance(category, bool)
        else str(category)
    )


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


def _as_csv(rows: list[TableRow]) -> str:
    written = io.StringIO()
    table = csv.DictWriter(written, _names(rows), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def _as_text(rows: list[TableRow]) -> str:
    names = _names(rows)
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join(align_rows(cells)) if rows else "nothing stands out of the noise"


def _names(rows: list[TableRow]) -> list[str]:
    """Return the column names, each once, in the order of their first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else printable_line(str(value))
