"""Compute the parts of a release card that follow from an answer's records."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ... import __version__
from ...exact.balls import up
from ...exact.numbers import rounded
from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import record as guarantee_record
from ...guarantees.stored_guarantee import stored_notion
from ..answer_records import Column
from ..column_kinds import KINDS
from ..intervals import has_interval, hold_simultaneously, simultaneous_cells
from ..plain_json import Record, to_plain_json
from ..render.footnotes import budget_as_epsilon, cost_text, to_epsilon_delta
from ..render.format_digits import format_exact, group_thousands
from ..shown_counts import decided_itself
from ..stored_answer import write_mechanism

if TYPE_CHECKING:
    from ..answer import Answer

FACTS = ("dataset", "question", "declaration", "bounding", "groups", "versions", "engine")
"""The facts of an answer that the card copies unchanged."""


def release_facts(answer: Answer, unit: str, relation: str | None, version: str) -> Record:
    """Return the exact facts of the release: the card's `release` part."""
    facts = {name: to_plain_json(answer.facts[name]) for name in FACTS if name in answer.facts}
    declared, versions = facts.get("declaration"), facts.get("versions")
    return {
        **facts,
        "unit": unit,
        "relation": relation,
        "notion": stored_notion(answer.cost),
        "cost": guarantee_record(answer.cost),
        "promise": None if answer.promise is None else guarantee_record(answer.promise),
        "budget": None if answer.budget is None else guarantee_record(answer.budget),
        "mechanisms": to_plain_json(
            answer.facts.get("mechanisms")
            or [write_mechanism(piece.mechanism) for piece in answer.pieces]
        ),
        "bounds": declared.get("bounds") if isinstance(declared, dict) else None,
        "keys": list(answer.keys),
        "columns": [_column_record(column) for column in answer.columns],
        "pieces": [
            {"name": piece.name, "step": str(piece.step), "cells": int(piece.values.shape[1])}
            for piece in (answer.tables or (answer,))[0].pieces
        ],
        "rules": list(answer.rules),
        "processing": list(answer.processing),
        "receipts": [
            {"number": paid.number, "digest": paid.digest, "when": paid.when}
            for paid in answer.receipts
        ],
        "versions": {"sfumato": version, **(versions if isinstance(versions, dict) else {})},
    }


def _column_record(column: Column) -> Record:
    numbers = {name: str(number) for name, number in column.numbers.items()}
    return {
        "name": column.name,
        "kind": column.kind,
        "asked": column.text,
        "numbers": numbers,
        "edges": [str(edge) for edge in column.edges] or None,
    }


def privacy_parameters(cost: Guarantee) -> dict[str, float]:
    """Return the privacy parameters as doubles, rounded up if not exact; `release` has the exact
    ones.
    """
    reported = {
        name: _round_up_to_double(Fraction(value))
        for name, value in cost.parameters.items()
        if name in ("epsilon", "delta", "rho")
    }
    if reported.keys() <= {"delta"}:  # of a curve, or of several notions
        epsilon, delta = to_epsilon_delta(cost)
        return {"epsilon": epsilon, "delta": _round_up_to_double(delta)}
    return reported


def _round_up_to_double(value: Fraction) -> float:
    double = float(value)
    return double if Fraction(repr(double)) == value else up(value)


def cost_details(answer: Answer) -> str:
    """Describe the cost of the release and the promise of the whole budget."""
    sentences = [f"This release cost {cost_text(answer.cost, answer.budget)}."]
    if answer.budget is not None:
        sentences.append(
            "All releases about the same dataset together stay within the budget, whatever "
            "anybody asks."
        )
        if budget_text := budget_as_epsilon(answer.budget):
            sentences.append(f"{budget_text[0].upper()}{budget_text[1:]}.")
    return " ".join(sentences)


def utility_text(answer: Answer) -> str:
    """Describe the accuracy of each column: its half-width where all cells have the same one."""
    if answer.tables:
        return " · ".join(
            f"by {', '.join(table.keys) or 'nothing'}: {utility_text(table)}"
            for table in answer.tables
        )
    parts = []
    for column in answer.columns:
        piece = answer.pieces[(column.pieces or column.sources)[0]]
        if column.kind == "quantile":
            has_ends = has_interval(answer, column)
            level = format_exact(column.numbers["confidence"])
            accuracy = f"released with an interval at {level}" if has_ends else "no interval"
            parts.append(f"{column.name}: {accuracy}")
        elif column.kind == "cumulative" and has_interval(answer, column):
            parts.append(f"{column.name}: the interval differs from edge to edge")
        elif (
            KINDS[column.kind].pieces == 1
            and has_interval(answer, column)
            and column.kind != "percentile"
            and not decided_itself(piece)
        ):
            is_simultaneous = hold_simultaneously(answer, column)
            half = piece.step * piece.half_width(
                Fraction(19, 20), simultaneous_cells(answer, column, piece)
            )
            parts.append(
                f"{column.name}: ± {group_thousands(rounded(half, 'up', 3))} at 95 %, "
                f"{'all shown groups at once' if is_simultaneous else 'each cell'}"
            )
        else:
            parts.append(f"{column.name}: the interval depends on the released values")
    return " · ".join(parts)


def version_of(answer: Answer) -> str:
    """Return the version of sfumato that released the answer."""
    versions = answer.facts.get("versions")
    return str(versions.get("sfumato", __version__)) if isinstance(versions, dict) else __version__
