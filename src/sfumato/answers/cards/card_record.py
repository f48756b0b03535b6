"""The parts of a release card that follow from an answer's records."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...exact.balls import up
from ...exact.numbers import rounded
from ...guarantees import GDP, Guarantee, Renyi
from ...guarantees.stored_guarantee import record as guarantee_record
from ..answer_records import Column
from ..column_kinds import KINDS
from ..intervals import cells, has_interval, together
from ..plain_json import plainly
from ..render.footnotes import as_epsilon, spent, whole_budget
from ..render.format_digits import grouped, plain
from ..stored_answer import write_mechanism

if TYPE_CHECKING:
    from ..answer import Answer

FACTS = ("dataset", "question", "declaration", "bounding", "groups", "versions", "engine")
"""Facts of an answer that are copied as they are."""


def release(answer: Answer, unit: str, relation: str | None, version: str) -> dict[str, Any]:
    """The facts, exactly."""
    facts = {name: plainly(answer.facts[name]) for name in FACTS if name in answer.facts}
    declared = facts.get("declaration")
    return {
        **facts,
        "unit": unit,
        "relation": relation,
        "notion": type(answer.cost).__name__,
        "cost": guarantee_record(answer.cost),
        "promise": None if answer.promise is None else guarantee_record(answer.promise),
        "budget": None if answer.budget is None else guarantee_record(answer.budget),
        "mechanisms": plainly(
            answer.facts.get("mechanisms")
            or [write_mechanism(piece.mechanism) for piece in answer.pieces]
        ),
        "bounds": declared.get("bounds") if isinstance(declared, dict) else None,
        "keys": list(answer.keys),
        "columns": [_column(column) for column in answer.columns],
        "pieces": [
            {"name": piece.name, "step": str(piece.step), "cells": int(piece.values.shape[1])}
            for piece in answer.pieces
        ],
        "rules": list(answer.rules),
        "processing": list(answer.processing),
        "receipts": [
            {"number": paid.number, "digest": paid.digest, "when": paid.when}
            for paid in answer.receipts
        ],
        "versions": {"sfumato": version, **(facts.get("versions") or {})},
    }


def _column(column: Column) -> dict[str, Any]:
    numbers = {name: str(number) for name, number in column.numbers.items()}
    return {
        "name": column.name,
        "kind": column.kind,
        "asked": column.text,
        "numbers": numbers,
        "edges": [str(edge) for edge in column.edges] or None,
    }


def parameters(cost: Guarantee) -> dict[str, float]:
    """Numbers whose text is exact, or rounded up: the exact ones are in the release."""
    known = {
        name: _reported(Fraction(value))
        for name, value in cost.parameters.items()
        if name in ("epsilon", "delta", "rho")
    }
    if isinstance(cost, GDP | Renyi) or not known:
        epsilon, delta = as_epsilon(cost)
        return {"epsilon": epsilon, "delta": _reported(delta)}
    return known


def _reported(value: Fraction) -> float:
    double = float(value)
    return double if Fraction(repr(double)) == value else up(value)


def details(answer: Answer) -> str:
    """What this cost, and what the whole budget promises."""
    said = [f"This release cost {spent(answer.cost, answer.budget)}."]
    if answer.budget is not None:
        said.append(
            "Whatever is asked, all releases about the same dataset together stay within "
            "the budget."
        )
        if whole := whole_budget(answer.budget):
            said.append(f"{whole[0].upper()}{whole[1:]}.")
    return " ".join(said)


def utility(answer: Answer) -> str:
    """The half-width of the intervals of what has the same in every cell."""
    said = []
    for column in answer.columns:
        piece = answer.pieces[column.pieces[0]]
        if column.kind == "quantile":
            there = has_interval(answer, column)
            said.append(
                f"{column.name}: "
                f"{'an interval at ' + plain(column.numbers['confidence']) + ' is part of it' if there else 'no interval'}"
            )
        elif (
            KINDS[column.kind].pieces == 1
            and has_interval(answer, column)
            and column.kind != "percentile"
        ):
            half = piece.step * piece.half_width(Fraction(19, 20), cells(answer, column, piece))
            said.append(
                f"{column.name}: ± {grouped(rounded(half, 'up', 3))} at 95 %, "
                f"{'all shown groups at once' if together(answer, column) else 'each cell'}"
            )
        else:
            said.append(f"{column.name}: intervals follow from the pieces")
    return " · ".join(said)


def version_of(answer: Answer) -> str:
    """The sfumato that released it."""
    versions = answer.facts.get("versions")
    return str(versions.get("sfumato", __version__)) if isinstance(versions, dict) else __version__
