"""`sfumato query`: one question about one file, from the shell."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Refused
from .terminal import working

if TYPE_CHECKING:
    from ..answers.answer import Answer
    from ..guarantees import Guarantee
    from ..session.pending_plan import Awaiting
    from ..session.protected_table import Table
    from ..tables.plan.query_plan import Plan

DELTA = "1e-9"
"""The δ of a question whose budget is its own cost, where none is given."""
MOST = 10**6
"""The ε of a budget that is only asked what a question would cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be asked about which file, and how it is to be told."""

    text: str
    epsilon: str | None
    within: str | dict[str, str] | None = None
    group_size: int | None = None
    delta: str | None = None
    declared: dict[str, Any]
    budget: str | None = None
    ledger: str | None = None
    form: str = "text"
    plan: bool = False


def tell(path: Path, asked: Asked) -> None:
    """Print the answer, or the plan."""
    from ..session import protect

    budget, delta = _budget(path, asked)
    promise: dict[str, Any] = {
        "epsilon": asked.epsilon,
        "delta": delta,
        "within": asked.within,
        "group_size": asked.group_size,
    }
    with protect(path, budget=budget, ledger=asked.ledger, **asked.declared) as table:
        if asked.plan:
            sys.stdout.write(_planned(table.plan(asked.text, **promise), asked.form) + "\n")
            return
        with working("asking"):
            answer = table.sql(asked.text, **promise)
        sys.stdout.write(
            (answer if isinstance(answer, str) else _answered(answer, asked.form, table)) + "\n"
        )


def declared(
    *,
    unit: Sequence[str],
    bounds: Sequence[str],
    keys: Sequence[str],
    types: Sequence[str],
    name: str | None,
    max_rows: int | None,
    max_groups: int | None,
    relation: str | None,
    declaration: Path | None,
) -> dict[str, Any]:
    """What `protect` is told: a declaration as a file, or its parts as options."""
    if declaration is not None:
        from ..tables.declare.declaration import Declaration

        try:
            text = declaration.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise Refused(
                "table.path",
                declaration.name,
                "this file cannot be read as text",
                "a file written by Declaration.to_toml()",
            ) from None
        return Declaration.from_toml(text).arguments
    given: dict[str, Any] = {"name": name, "max_rows": max_rows, "max_groups": max_groups}
    given["unit"] = [column for part in unit for column in part.split(",")] or None
    given["bounds"] = {column: _ends(column, value) for column, value in map(_pair, bounds)} or None
    given["keys"] = {column: value.split(",") for column, value in map(_pair, keys)} or None
    given["types"] = dict(map(_pair, types)) or None
    return given if relation is None else {**given, "relation": relation}


def accuracy(given: Sequence[str]) -> str | dict[str, str] | None:
    """25, or n=25 for each of several columns."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return dict(map(_pair, given)) or None


def _pair(text: str) -> tuple[str, str]:
    """column=value."""
    name, sign, value = text.partition("=")
    if not name or not sign or not value:
        from typer import BadParameter

        raise BadParameter(f"{text!r} is not COLUMN=VALUE")
    return name, value


def _ends(column: str, value: str) -> tuple[str, str]:
    low, sign, high = value.partition(":")
    if not sign:
        from typer import BadParameter

        raise BadParameter(f"bounds are LOW:HIGH, as in {column}=0:100")
    return low, high


def _kept(ledger: str, dataset: str) -> Guarantee | None:
    """The budget of a dataset in a book, where there is a book that has it."""
    from ..ledger import reading

    try:
        with reading(ledger) as book:
            return book[dataset].budget if dataset in book else None
    except Refused as refusal:
        if refusal.code != "ledger.path":
            raise
        return None  # there is none yet, or what is wrong with the place is said when it is opened


def _budget(path: Path, asked: Asked) -> tuple[str | Guarantee, str | None]:
    """The budget, and the δ of the question: as given; of a book that is there, its own; else what
    this question may cost.
    """
    if asked.budget is not None:
        return asked.budget, asked.delta
    found = (
        None
        if asked.ledger is None
        else _kept(asked.ledger, asked.declared.get("name") or path.stem)
    )
    if found is not None:
        own = found.parameters.get("delta") == Fraction(
            DELTA
        )  # a book that was opened for one question, with its δ
        return found, asked.delta or (DELTA if own else None)
    from ..exact.numbers import probability
    from ..guarantees import Approx, Pure
    from ..session import protect

    delta = probability(asked.delta or DELTA, "delta")
    with protect(
        path, budget=Approx(MOST, delta) if delta else Pure(MOST), **asked.declared
    ) as table:  # what it costs, with its learning, reads nothing
        made = table.plan(
            asked.text,
            epsilon=asked.epsilon,
            delta=asked.delta or DELTA,
            within=asked.within,
            group_size=asked.group_size,
        )
    epsilon = (
        made.promise if asked.within is not None or not hasattr(made, "lacks") else made.cost
    ).parameters["epsilon"]
    return (Approx(epsilon, delta) if delta else Pure(epsilon)), asked.delta or DELTA


def _answered(answer: Answer, form: str, table: Table) -> str:
    if form == "csv":
        return answer.to_csv(intervals=True).rstrip("\r\n")
    if form == "text":
        return str(answer) + (
            ""
            if table._durable
            else "\nthe budget was for this question alone: nothing is remembered"
        )
    from ..answers.render.export_frames import columns
    from ..answers.render.tabulate import key_text

    numbers = {name: values.tolist() for name, values in columns(answer, intervals=True).items()}
    rows = [
        {key: _plain(value, key_text) for key, value in zip(answer.keys, row, strict=True)}
        | {name: _plain(values[i], key_text) for name, values in numbers.items()}
        for i, row in enumerate(answer.rows)
    ]
    told: dict[str, Any] = {
        "rows": rows,
        "cost": _record(answer.cost),
        "left": None if answer.left is None else _record(answer.left),
    }
    told |= {
        "rules": list(answer.rules),
        "processing": list(answer.processing),
        "question": answer.facts.get("question"),
    }
    told["receipt"] = (
        None
        if answer.receipt is None
        else {
            "number": answer.receipt.number,
            "digest": answer.receipt.digest,
            "when": answer.receipt.when,
        }
    )
    return json.dumps(told, ensure_ascii=False, indent=2)


def _planned(plan: Plan | Awaiting, form: str) -> str:
    if form == "text":
        return plan.explain()
    # where there is no number, `explained` says why
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
    """The numbers of a guarantee, exact."""
    from ..exact.numbers import text

    return {
        name: text(Fraction(value))
        for name, value in guarantee.parameters.items()
        if isinstance(value, int | Fraction)
    }


def _plain(value: Any, write: Any) -> Any:
    """A value as JSON has it: what is unknown or unbounded is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else write(value)
