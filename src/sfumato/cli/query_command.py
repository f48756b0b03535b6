"""`sfumato query`: answer one SQL question about one file, from the shell."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from ..errors import Refused
from . import cli_refusals as refusals
from .terminal import show_status

if TYPE_CHECKING:
    from ..answers.answer import Answer
    from ..guarantees import Guarantee
    from ..session.pending_plan import PendingPlan
    from ..session.protected_table import Table
    from ..synth.synthesis_plan import SynthesisPlan
    from ..synth.synthetic_table import SyntheticTable
    from ..tables.declare.public_keys import Key
    from ..tables.plan.query_plan import Plan

Arguments = dict[str, Any]  # keyword arguments of `protect`, each of its own type
DELTA = "1e-9"
"""The default δ of a question whose budget is its own cost."""
MOST = 10**6
"""The ε of a budget that only serves to plan: it finds out what the question costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """A question, its promise, declaration, budget and ledger, and the output format."""

    text: str
    epsilon: str | None
    within: str | dict[str, str] | None = None
    group_size: int | None = None
    delta: str | None = None
    declaration: Arguments
    budget: str | None = None
    ledger: str | None = None
    form: str = "text"
    plan: bool = False
    rules: bool = False


def run_query(path: Path, request: QueryRequest) -> None:
    """Print the answer, or the plan with `--plan`."""
    from ..answers.answer import Answer
    from ..session import protect
    from ..sql import described_table, find_synthetic

    if described_table(request.text) is not None:
        with protect(path, budget=MOST, **request.declaration) as table:
            sys.stdout.write(str(table.sql(request.text)) + "\n")
        return
    select = find_synthetic(request.text)
    budget, delta = _budget(path, request, is_synthetic=select is not None)
    promise: Arguments = {
        "epsilon": request.epsilon,
        "delta": delta,
        "within": request.within,
        "group_size": request.group_size,
    }
    promise = {name: value for name, value in promise.items() if value is not None}
    with protect(path, budget=budget, ledger=request.ledger, **request.declaration) as table:
        if request.plan and select is not None:
            sys.stdout.write(f"{_plan_synthetic(table, select, request.epsilon, delta)}\n")
            return
        if request.plan:
            sys.stdout.write(_format_plan(table.plan(request.text, **promise), request.form) + "\n")
            return
        with show_status("asking"):
            answer: object = table.sql(request.text, **promise)
        # EXPLAIN gives a text, CREATE SYNTHETIC TABLE a table
        shown = _format_answer(answer, request, table) if isinstance(answer, Answer) else answer
        if select is not None and request.form != "text":
            shown = _format_rows(cast("SyntheticTable", answer), request.form)
        sys.stdout.write(f"{shown}\n")


def _format_rows(synthetic: SyntheticTable, form: str) -> str:
    """Return the rows of a synthetic table as CSV or JSON."""
    frame = synthetic.to_pandas()
    if form == "csv":
        return str(frame.to_csv(index=False)).rstrip("\n")
    return str(frame.to_json(orient="records", date_format="iso"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationOptions:
    """The options that declare a table: repeated ones as texts of the form COLUMN=VALUE."""

    unit: Sequence[str] = ()
    bounds: Sequence[str] = ()
    keys: Sequence[str] = ()
    types: Sequence[str] = ()
    name: str | None = None
    max_rows: int | None = None
    max_groups: int | None = None
    relation: str | None = None

    def arguments(self) -> Arguments:
        """Return the arguments of `protect`."""
        bounds = {column: _ends(column, value) for column, value in map(_pair, self.bounds)}
        keys = {column: value.split(",") for column, value in map(_pair, self.keys)}
        arguments: Arguments = {
            "name": self.name,
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
            "unit": [column for part in self.unit for column in part.split(",")] or None,
            "bounds": bounds or None,
            "keys": keys or None,
            "types": {name: kind for part in self.types for name, kind in _types(part)} or None,
        }
        return arguments if self.relation is None else {**arguments, "relation": self.relation}


def read_declaration(path: Path) -> Arguments:
    """Return the arguments of `protect` from a declaration file."""
    from ..tables.declare.declaration import Declaration

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refusals.DECLARATION_UNREADABLE(name=path.name) from None
    return Declaration.from_toml(text).arguments


def parse_within(options: Sequence[str]) -> str | dict[str, str] | None:
    """Parse `--within`: 25, or n=25 for each of several columns."""
    if len(options) == 1 and "=" not in options[0]:
        return options[0]
    return dict(map(_pair, options)) or None


def _types(option: str) -> list[tuple[str, str]]:
    """Return the types of an option: COLUMN=TYPE, or all of a Parquet file's schema. No value of
    the file is read.
    """
    if "=" in option or not option.endswith(".parquet"):
        return [_pair(option)]
    from ..tables.engine.sources import open_source

    opened = open_source(Path(option), None, "types")
    try:
        return [(column, str(kind)) for column, kind in opened.schema.items()]
    finally:
        opened.engine.close()


def check_unit(path: Path, request: QueryRequest, *, is_said: bool) -> QueryRequest:
    """Ask for the unit where none is named and a column looks like an identifier; refuse where
    nobody can be asked. Only names of columns are read, and none if the owner said that each row
    is a person.
    """
    if request.declaration["unit"] or request.declaration.get("links"):
        return request
    from ..session import protect
    from ..tables.declare.identifier_names import identifier_columns

    declared = {**request.declaration, "each_row_a_person": True}
    columns = []
    if not is_said:
        with protect(path, budget=1, **declared) as table:
            columns = identifier_columns(table.declaration.schema)
    if columns:
        if not sys.stdin.isatty():
            raise refusals.UNIT_NOT_NAMED(column=columns[0])
        question = f"{columns[0]} looks like an identifier. Are all its rows one person's?"
        if typer.confirm(question, default=True, err=True):
            declared = {**declared, "unit": [columns[0]], "each_row_a_person": False}
    return replace(request, declaration=declared)


def _pair(text: str) -> tuple[str, str]:
    """Split COLUMN=VALUE."""
    name, sign, value = text.partition("=")
    if not name or not sign or not value:
        from typer import BadParameter

        raise BadParameter(f"{text!r} is not COLUMN=VALUE")
    return name, value


def _ends(column: str, value: str) -> tuple[str, str]:
    low, sign, high = value.partition(":")
    if not sign:
        from typer import BadParameter

        raise BadParameter(f"write bounds as LOW:HIGH, as in {column}=0:100")
    return low, high


def budget_in_ledger(ledger: str, dataset: str) -> Guarantee | None:
    """Return the budget of a dataset in a ledger, or None if the ledger or dataset is new."""
    from ..ledger import reading

    try:
        with reading(ledger) as book:
            return book[dataset].budget if dataset in book else None
    except Refused as refusal:
        if refusal.code != "ledger.path":
            raise
        return None  # no ledger yet; a wrong path is refused when the ledger is opened


def _budget(
    path: Path, request: QueryRequest, *, is_synthetic: bool
) -> tuple[str | Guarantee, str | None]:
    """Return the budget and the δ of the question. The budget is the option's, else the existing
    ledger's, else what this question costs.
    """
    if request.budget is not None:
        return request.budget, request.delta
    stored = (
        None
        if request.ledger is None
        else budget_in_ledger(request.ledger, request.declaration.get("name") or path.stem)
    )
    if stored is not None:
        # a book that was opened for one question, with its δ
        is_single_question = stored.parameters.get("delta") == Fraction(DELTA)
        return stored, request.delta or (DELTA if is_single_question else None)
    from ..exact.numbers import positive, probability
    from ..guarantees import Approx, Pure
    from ..session import protect
    from ..session.pending_plan import PendingPlan

    delta = probability(request.delta or DELTA, "delta")
    if is_synthetic:
        epsilon = positive("" if request.epsilon is None else request.epsilon, "epsilon")
        return Approx(epsilon, delta), request.delta or DELTA
    with protect(
        path, budget=Approx(MOST, delta) if delta else Pure(MOST), **request.declaration
    ) as table:  # what it costs, with its learning, reads nothing
        plan = table.plan(
            request.text,
            epsilon=request.epsilon,
            delta=request.delta or DELTA,
            within=request.within,
            group_size=request.group_size,
        )
    epsilon = (
        plan.promise
        if request.within is not None or not isinstance(plan, PendingPlan)
        else plan.cost
    ).parameters["epsilon"]
    return (Approx(epsilon, delta) if delta else Pure(epsilon)), request.delta or DELTA


def _plan_synthetic(
    table: Table, select: str, epsilon: str | None, delta: str | None
) -> SynthesisPlan:
    """Plan a CREATE SYNTHETIC TABLE by its SELECT."""
    from ..sql import read_synthetic
    from ..synth import plan_synthesis

    rows, columns = read_synthetic(select, table.rows)
    return plan_synthesis(rows, columns=columns, epsilon=epsilon, delta=delta)


def _format_answer(answer: Answer, request: QueryRequest, table: Table) -> str:
    if request.form == "csv":
        return answer.to_csv(intervals=True).rstrip("\r\n")
    if request.form == "text":
        text = answer.text(rules_in="" if request.rules else "--rules")
        text += f"\n\n{answer.explain()}\n" if request.rules else ""
        return text + (
            "" if table._durable else "\nno --ledger was given: this cost is not recorded"
        )
    from ..answers.render.export_frames import value_columns
    from ..answers.render.tabulate import key_text

    numbers = {
        name: values.tolist() for name, values in value_columns(answer, intervals=True).items()
    }
    rows = [
        {key: _plain(value, key_text) for key, value in zip(answer.keys, row, strict=True)}
        | {name: _plain(values[i], key_text) for name, values in numbers.items()}
        for i, row in enumerate(answer.rows)
    ]
    content: dict[str, object] = {
        "rows": rows,
        "cost": _record(answer.cost),
        "left": None if answer.left is None else _record(answer.left),
    }
    content |= {
        "rules": list(answer.rules),
        "processing": list(answer.processing),
        "question": answer.facts.get("question"),
    }
    content["receipt"] = (
        None
        if answer.receipt is None
        else {
            "number": answer.receipt.number,
            "digest": answer.receipt.digest,
            "when": answer.receipt.when,
        }
    )
    return json.dumps(content, ensure_ascii=False, indent=2)


def _format_plan(plan: Plan | PendingPlan, form: str) -> str:
    if form == "text":
        return plan.explain()
    # where the error is not a number, `explained` says why
    error = {
        name: width if not isinstance(width, str) and math.isfinite(width) else None
        for name, width in plan.error().items()
    }
    if form == "csv":
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows(
            [
                ("column", "error"),
                *((name, "" if width is None else width) for name, width in error.items()),
            ]
        )
        return table.getvalue().rstrip("\n")
    return json.dumps(
        {"cost": _record(plan.cost), "error": error, "explained": plan.explain().splitlines()},
        ensure_ascii=False,
        indent=2,
    )


def _record(guarantee: Guarantee) -> dict[str, str]:
    """Return the exact numbers of a guarantee as texts."""
    from ..exact.numbers import text

    return {
        name: text(Fraction(value))
        for name, value in guarantee.parameters.items()
        if isinstance(value, int | Fraction)
    }


def _plain(value: Key, write: Callable[[Key], str]) -> str | int | float | None:
    """Convert a value to JSON; NaN and infinity become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else write(value)
