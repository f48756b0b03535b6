"""Check a number that somebody states against the answer that the ledger paid for.

A claim names the question, the ledger entry, and one cell. The check asks the service for the
stored answer, which is free, and refuses where the answer is not stored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Self

from ..answers.answer import Answer
from ..client.connection import Connection
from . import mcp_refusals as refusals

Cell = str | int | float | bool | None

KEY_LENGTH = 100
"""The most characters of a key that are shown."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A number, with the receipt of the answer it is from."""

    dataset: str
    sql: str
    epsilon: str | None
    within: str | None
    entry: int
    digest: str
    column: str
    row: Mapping[str, Cell]
    value: str  # as it is stated, with its digits

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a claim from JSON."""
        try:
            fields = json.loads(text, parse_float=str, parse_int=str)
            row = json.loads(text).get("row", {})
            epsilon, within = fields.get("epsilon"), fields.get("within")
            value = str(fields["value"])
            if not isinstance(row, dict) or (epsilon is None) == (within is None):
                raise ValueError(fields)
            if not Decimal(value).is_finite():
                raise ValueError(value)
            return cls(
                dataset=str(fields["dataset"]),
                sql=str(fields["sql"]),
                epsilon=epsilon,
                within=within,
                entry=int(fields["entry"]),
                digest=str(fields["digest"]),
                column=str(fields["column"]),
                row=row,
                value=value,
            )
        except (ValueError, LookupError, TypeError, AttributeError, InvalidOperation):
            raise refusals.CLAIM_UNREADABLE() from None


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """What the check of a claim gave. `reason` says what does not hold."""

    holds: bool
    reason: str
    low: float | None = None
    high: float | None = None


def verify_claim(connection: Connection, claim: Claim, url: str) -> ClaimCheck:
    """Compare a claim with the stored answer; nothing is charged."""
    dataset = connection[claim.dataset]
    promise = {
        name: value
        for name, value in (("epsilon", claim.epsilon), ("within", claim.within))
        if value is not None
    }
    if not dataset.plan(claim.sql, **promise).paid:
        raise refusals.CLAIM_NOT_PAID(dataset=claim.dataset, url=url)
    return compare_claim(dataset.sql(claim.sql, **promise), claim)


def compare_claim(answer: Answer, claim: Claim) -> ClaimCheck:
    """Compare a claim with an answer: its receipt, its row, its number to the digits stated."""
    paid = {paid.number: paid.digest for paid in answer.receipts}
    if claim.entry not in paid:
        return ClaimCheck(False, f"entry {claim.entry} did not pay for this answer")
    if len(claim.digest) < 8 or not paid[claim.entry].startswith(claim.digest):
        return ClaimCheck(False, f"entry {claim.entry} has another digest")
    if claim.column not in answer.names:
        return ClaimCheck(False, f"the answer has no column {claim.column}")
    rows = [row for row in list_rows(answer) if all(row.get(k) == v for k, v in claim.row.items())]
    if len(rows) != 1:
        return ClaimCheck(False, f"{len(rows)} rows of the answer fit, and a claim is about one")
    value = rows[0].get(claim.column)
    low, high = (_number(rows[0].get(f"{claim.column}_{end}")) for end in ("low", "high"))
    if not isinstance(value, int | float) or not math.isfinite(value):
        return ClaimCheck(False, "the answer has no number there", low, high)
    stated = Decimal(claim.value)
    rounded = Decimal(repr(value)).quantize(Decimal((0, (1,), int(stated.as_tuple().exponent))))
    if rounded != stated:
        return ClaimCheck(False, f"the answer says {value}", low, high)
    return ClaimCheck(True, "", low, high)


def list_rows(answer: Answer) -> list[dict[str, Cell]]:
    """Return the rows of an answer with the ends of their intervals."""
    columns: dict[str, list[object]] = answer.to_arrow(intervals=True).to_pydict()
    return [
        {name: _cell(values[i]) for name, values in columns.items()}
        for i in range(len(answer.rows))
    ]


def _cell(value: object) -> Cell:
    """Return a value as JSON has it; a long text is cut."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    return text if len(text) <= KEY_LENGTH else text[:KEY_LENGTH] + "…"


def _number(value: Cell) -> float | None:
    return float(value) if isinstance(value, int | float) else None
